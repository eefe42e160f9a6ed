import { type ReactNode, useRef, useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Filter } from "../ui/Filter.tsx"
import { FilterBar } from "../ui/FilterBar.tsx"
import { tabClass, Tabs as Views } from "../ui/Header.tsx"
import { Item } from "../ui/Item.tsx"
import { later } from "../ui/later.tsx"
import { List } from "../ui/List.tsx"
import { ManyFilter } from "../ui/ManyFilter.tsx"
import { Rows } from "../ui/Rows.tsx"
import { SearchField } from "../ui/SearchField.tsx"
import { Section } from "../ui/Section.tsx"

/** Lists, what stands above them and beside them, for the page of all parts. */

const Peek = later(() => import("../ui/Peek.tsx"))
const SearchMenu = later(async () => ({ default: (await import("../ui/SearchMenu.tsx")).SearchMenu }))

const statuses = ["Backlog", "Todo", "In progress", "Done"].map((label) => ({ value: label, label }))

const Filters = () => {
  const [text, setText] = useState("")
  const [values, setValues] = useState<ReadonlyArray<string>>(["Todo", "In progress"])
  const [one, setOne] = useState<string>()
  return (
    <FilterBar
      count={values.length}
      end={<Button look="quiet">As a table</Button>}
      label="Filters"
      search={<SearchField label="Title" onChange={setText} value={text} />}
    >
      <ManyFilter choices={statuses} noun="status" onChange={setValues} values={values} />
      <Filter choices={statuses} noun="result" onChange={setOne} value={one} />
    </FilterBar>
  )
}

const SearchedMenu = () => {
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState("Todo")
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <Button aria-expanded={isOpen} aria-haspopup="menu" onClick={() => setOpen(!isOpen)} ref={button}>
        Status is {chosen}
      </Button>
      <SearchMenu
        anchor={button}
        groups={[
          {
            items: statuses.map(({ label }) => ({
              label,
              isChosen: label === chosen,
              onSelect: () => setChosen(label)
            }))
          }
        ]}
        isOpen={isOpen}
        label="Status"
        onOpenChange={setOpen}
        side="bottom"
      />
    </>
  )
}

const tests = ["pays by card", "downloads an invoice", "W".repeat(200)]

const row = (name: string, isCurrent = false): ReactNode => (
  <div className={`border-border flex h-(--row) items-center border-b px-4 ${isCurrent ? "bg-selected" : ""}`}>
    <span className="foreign truncate">{name}</span>
  </div>
)

export const Lists = () => {
  const [isPeeking, setPeeking] = useState(false)
  return (
    <>
      <Views label="Views">
        <a aria-current="page" className={tabClass} href="#rows">
          Failures <span className="text-muted tabular text-xs font-normal">12</span>
        </a>
        <a className={tabClass} href="#rows">
          Details
        </a>
      </Views>
      <Filters />
      <div className="flex flex-wrap gap-3 px-4 py-3">
        <SearchedMenu />
        <Button onClick={() => setPeeking(!isPeeking)}>Peek</Button>
      </div>
      <Section isFlush title="Rows">
        <Rows
          count={tests.length}
          keyOf={(index) => tests[index]!}
          label="Rows"
          noun="test"
          onOpen={() => setPeeking(true)}
          peek={(index) => <p className="foreign p-4">{tests[index]}</p>}
          row={(index, isCurrent) => row(tests[index]!, isCurrent)}
        />
      </Section>
      <Section isFlush title="A list">
        <List label="A list" noun="thing">
          <Item detail="of one line" name="one" />
          <Item detail="of another line" isFaded name="another" />
        </List>
      </Section>
      {isPeeking && (
        <Peek label="The current thing" onClose={() => setPeeking(false)}>
          <h2 className="px-4 py-3 font-semibold">pays by card</h2>
        </Peek>
      )}
    </>
  )
}
