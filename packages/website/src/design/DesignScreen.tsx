import { useState } from "react"
import { Badge } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { CodeBlock } from "../ui/Code.tsx"
import { Copyable } from "../ui/Copy.tsx"
import { Diff } from "../ui/Diff.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Input, TextArea } from "../ui/Field.tsx"
import { Filter } from "../ui/Filter.tsx"
import { formatDuration } from "../ui/duration.ts"
import { counted } from "../ui/format.ts"
import { formatRate } from "../ui/rate.ts"
import { Icon } from "../ui/Icon.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { Older } from "../ui/Older.tsx"
import { SearchField } from "../ui/SearchField.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import Command from "../ui/Command.tsx"
import { Problem } from "../ui/Problem.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { Stack } from "../ui/Stack.tsx"
import { StatusMark } from "../ui/StatusMark.tsx"
import { Elapsed } from "../ui/Elapsed.tsx"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { Truncated } from "../ui/Truncated.tsx"
import { Header } from "../ui/Header.tsx"
import { Contents, Part } from "./Contents.tsx"
import { Lists } from "./Lists.tsx"

/** `/design`, where the website is developed: every part of `ui/` in every state. */

const Overlays = later(() => import("./Overlays.tsx"))

const statuses = ["passed", "failed", "flaky", "skipped", "running", "interrupted"] as const
const tones = ["plain", "accent", "info", "success", "warning", "danger"] as const
const colours = [
  "surface",
  "raised",
  "sunken",
  "hover",
  "selected",
  "border",
  "strong",
  "text",
  "muted",
  "faint",
  "accent",
  "danger",
  "warning",
  "success",
  "info"
]

const Colours = () => (
  <Part title="Colours">
    {colours.map((name) => (
      <span className="flex items-center gap-2" key={name}>
        <span className="border-border size-6 rounded-md border" style={{ background: `var(--${name})` }} />
        {name}
      </span>
    ))}
  </Part>
)

const Type = () => (
  <Part title="Type">
    <span className="text-2xl">28 Release</span>
    <span className="text-xl">20 Release</span>
    <span className="text-lg">16 Release</span>
    <span className="text-md font-semibold">14 Release</span>
    <span>13 Release</span>
    <span className="text-muted text-xs">12 Release</span>
    <span className="font-mono text-xs">9fceb02 DATABASE_URL</span>
  </Part>
)

const Buttons = () => (
  <Part title="Buttons">
    <Button look="primary">Rotate token</Button>
    <Button>Set version</Button>
    <Button look="quiet">Clear</Button>
    <Button look="danger">Really revoke?</Button>
    <Button icon="plus" shortcut="c">
      Add secret
    </Button>
    <Button isBusy look="primary">
      Busy
    </Button>
    <Button disabled>Disabled</Button>
    <IconButton icon="more" label="More" shortcut="." />
    <Kbd keys="g r" />
  </Part>
)

const Fields = () => {
  const [text, setText] = useState("")
  return (
    <Part title="Fields">
      <div className="grid w-full grid-cols-1 gap-4 sm:grid-cols-3">
        <Input hint="1 to 80 characters" label="Name" placeholder="laptop" />
        <Input isMono issue="Expected lowercase letters" label="Slug" defaultValue="Shop" />
        <TextArea isMono label="Value" rows={2} />
        <SearchField label="Name" onChange={setText} value={text} />
      </div>
    </Part>
  )
}

const OverlayPart = () => {
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState("failed")
  return (
    <Part title="Menus, dialogs, toasts">
      <Menu
        groups={[
          {
            label: "Result",
            items: ["failed", "passed"].map((label) => ({
              label,
              isChosen: label === chosen,
              onSelect: () => setChosen(label)
            }))
          },
          {
            items: [
              { label: "Copy", icon: "copy", shortcut: "y", onSelect: () => {} },
              { label: "Delete", isDangerous: true, onSelect: () => {} }
            ]
          }
        ]}
        label="Result"
        trigger={(props) => (
          <button {...props} className="border-border h-7 rounded-md border px-2.5" type="button">
            Result is {chosen}
          </button>
        )}
      />
      <Button onClick={() => setOpen(true)}>Open a dialog</Button>
      <Button onClick={() => toast({ title: "Sam is admin now", undo: async () => "Sam is member again" })}>
        Tell
      </Button>
      <Button
        onClick={() =>
          toast({ title: "That was not saved", detail: "You are not an admin.", tone: "danger", requestId: "req-4711" })
        }
      >
        Refuse
      </Button>
      {isOpen && <Overlays onClose={() => setOpen(false)} />}
    </Part>
  )
}

const Texts = () => (
  <>
    <Part title="Times, numbers, names">
      <Time at={new Date(Date.now() - 5_000).toISOString()} />
      <Time at="2026-01-03T10:00:00.000Z" />
      <Elapsed since={new Date().toISOString()} />
      <span>{formatDuration(72_000)}</span>
      <span>{counted(12_345, "test")}</span>
      <span>{formatRate(0.9996)}</span>
      <span className="w-48">
        <Truncated text="feature/a-very-long-name-of-a-branch/whose-end-matters" />
      </span>
      <Copyable label="Copy the commit" shown="9fceb02" text="9fceb02d0ae598e95dc970b74767f19372d61af8" />
    </Part>
    <Part title="Text of programs">
      <div className="flex w-full flex-col gap-3">
        <CodeBlock
          label="the error"
          text={"Expected 200, got 500\n\u202egnirts elitsoh <script>alert(1)</script>"}
          tone="danger"
        />
        <Stack text={"Error: Expected\n    at tests/pay.spec.ts:12:9\n    at node_modules/playwright/lib/run.js:1:1"} />
        <Diff
          label="What would change"
          lines={[
            { kind: "added", text: "NEW_NAME" },
            { kind: "changed", text: "DATABASE_URL" },
            { kind: "removed", text: "OLD_NAME" },
            { kind: "same", text: "SMTP_HOST" }
          ]}
        />
        <Command text="npx @delivery/cli runs publish results.xml" />
      </div>
    </Part>
  </>
)

const Things = () => {
  const [kind, setKind] = useState<string | undefined>("session")
  return (
    <>
      <div className="border-border flex items-center gap-1 border-b px-3 py-1.5">
        <Filter choices={[{ value: "session", label: "session" }]} noun="kind" onChange={setKind} value={kind} />
      </div>
      <Section actions={<Button icon="plus">New thing</Button>} isFlush title="Things with a name">
        <ul aria-label="Things with a name">
          <Item
            actions={<Button look="quiet">Revoke</Button>}
            badges={<Badge tone="accent">this one</Badge>}
            detail="ctk_4fGh…9aZk"
            name="laptop"
          >
            <Cell>
              <Since at={null} never="never used" word="used" />
            </Cell>
            <Cell tone="warning">
              <Since at={new Date(Date.now() + 86_400_000).toISOString()} never="" word="ends" />
            </Cell>
          </Item>
          <Item
            detail={"W".repeat(300)}
            isFaded
            more={<p className="text-muted">More about it.</p>}
            name={"W".repeat(300)}
          />
        </ul>
      </Section>
      <Older noun="things" query={{ hasNextPage: true, isFetchingNextPage: false, fetchNextPage: () => {} }} />
    </>
  )
}

const DesignScreen = () => (
  <main id="screen">
    <Header
      actions={<Button>Action</Button>}
      crumbs={[{ label: "Website" }]}
      state={<Badge>draft</Badge>}
      title="Design"
    />
    <Colours />
    <Type />
    <Buttons />
    <Part title="Marks">
      {statuses.map((status) => (
        <StatusMark isWordShown key={status} status={status} />
      ))}
      {tones.map((tone) => (
        <Badge key={tone} tone={tone}>
          {tone}
        </Badge>
      ))}
      <Icon name="lock" />
    </Part>
    <Fields />
    <OverlayPart />
    <Texts />
    <Facts
      facts={[
        ["Machine", "ci-7 (linux)"],
        ["Release", "Release 4"]
      ]}
    />
    <Things />
    <Lists />
    <Contents />
    <SkeletonRows rows={3} />
    <Empty command="npx @delivery/cli runs publish results.xml" icon="runs" title="Runs appear here" />
    <Problem onRetry={() => {}} requestId="req-4711" title="The server does not answer.">
      Nothing is lost here.
    </Problem>
  </main>
)

export default DesignScreen
