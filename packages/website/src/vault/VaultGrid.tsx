import type { Secret } from "@delivery/domain/vault/Secret"
import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useRef, useState } from "react"
import { EnvironmentName } from "../catalog/EnvironmentName.tsx"
import { Icon } from "../ui/Icon.tsx"
import { MoreRight, useEdges } from "../ui/edges.tsx"
import { DrawnRows } from "../ui/DrawnRows.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { type Drafts, keyOf, type Place } from "./drafts.ts"
import { cellState } from "./rows.ts"

/** Names by environments, as a grid that the keyboard walks: arrows move, Home and End lead to the ends of a row, with Ctrl of the grid, Enter opens. */

const EnvironmentLink = later(() => import("../catalog/EnvironmentLink.tsx"), EnvironmentName)
const BatchCell = later(() => import("./BatchCell.tsx"))

/** Cells that are written together: each has a draft, until all are sent. */
export interface Batch {
  readonly drafts: Drafts
  readonly onDraft: (place: Place, value: string | null | undefined) => void
}

/** As the vault has it, with whether its writes need approvals once that is known. */
type Column = EnvironmentRef & { readonly approvals?: boolean }

interface Props {
  readonly slug: string
  readonly environments: ReadonlyArray<Column>
  readonly secrets: ReadonlyArray<Secret>
  readonly isProductShown: boolean
  readonly onOpen: (place: Place) => void
  readonly batch: Batch | undefined
}

const words = { set: "has a value", cleared: "was cleared", missing: "is missing", none: "has no value" }

const CellContent = ({ cell, secret }: Place) => {
  const state = cellState(cell, secret)
  return (
    <>
      {state === "set" && (
        <>
          <span className="text-success">
            <Icon name="check" size={14} />
          </span>
          <span className="tabular">v{cell.version}</span>
          {cell.updatedAt !== null && (
            <span className="text-muted truncate text-xs">
              <Time at={cell.updatedAt} />
            </span>
          )}
        </>
      )}
      {state === "missing" && (
        <span className="text-warning inline-flex items-center gap-1.5">
          <Icon name="warning" size={14} />
          missing
        </span>
      )}
      {state === "cleared" && <span className="text-muted">cleared</span>}
      {state === "none" && <span className="text-faint">–</span>}
    </>
  )
}

const template = (columns: number) => `var(--vault-name) repeat(${columns}, minmax(8.5rem, 1fr))`

/** A letter and the like, which a field would take. */
const isText = ({ altKey, ctrlKey, key, metaKey }: Pick<KeyboardEvent, "altKey" | "ctrlKey" | "key" | "metaKey">) =>
  key.length === 1 && !altKey && !ctrlKey && !metaKey

interface GridActions {
  readonly open: (row: number, column: number) => void
  readonly clear: (row: number, column: number) => void
  /** What is typed at a cell is written into it: then it is nothing for the keys of the page. */
  readonly takesText: boolean
}

const useGridKeys = (rows: number, columns: number, { clear, open, takesText }: GridActions) => {
  const [active, setActive] = useState({ row: 0, column: 0 })
  const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowDown: [1, 0],
    ArrowUp: [-1, 0],
    ArrowRight: [0, 1],
    ArrowLeft: [0, -1],
    Home: [0, -columns],
    End: [0, columns],
    "Mod+Home": [-rows, -columns],
    "Mod+End": [rows, columns],
    PageDown: [12, 0],
    PageUp: [-12, 0],
    ...(takesText ? {} : { j: [1, 0], k: [-1, 0] })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.ctrlKey || event.metaKey ? `Mod+${event.key}` : event.key]
    if (step === undefined) {
      if (event.key === "Delete") return clear(active.row, active.column)
      if (takesText && isText(event)) {
        event.stopPropagation()
        // The field is there before the letter comes, which it gets. No value begins with a space by chance.
        return event.key === " " ? event.preventDefault() : open(active.row, active.column)
      }
      if (event.key !== "Enter" || event.target === event.currentTarget) return
      event.preventDefault()
      return open(active.row, active.column)
    }
    event.preventDefault()
    event.stopPropagation()
    setActive(({ column, row }) => ({
      row: Math.max(0, Math.min(rows - 1, row + step[0])),
      column: Math.max(0, Math.min(columns - 1, column + step[1]))
    }))
  }
  return { active, setActive, onKeyDown }
}

interface RowProps {
  readonly secret: Secret
  readonly environments: ReadonlyArray<EnvironmentRef>
  readonly isProductShown: boolean
  readonly row: number
  readonly active: { readonly row: number; readonly column: number }
  readonly onOpen: (place: Place) => void
  readonly onActive: (place: { readonly row: number; readonly column: number }) => void
  readonly batch: Batch | undefined
  /** The cell that is written into. */
  readonly editing: string | undefined
  readonly onEdited: (place: Place, value: string | undefined) => void
}

const Row = ({
  active,
  batch,
  editing,
  environments,
  isProductShown,
  onActive,
  onEdited,
  onOpen,
  row,
  secret
}: RowProps) => (
  <>
    <div
      className="border-border bg-surface sticky left-0 z-10 flex min-w-0 items-center gap-2 border-r border-b px-4 max-sm:flex-col max-sm:items-start max-sm:justify-center max-sm:gap-0"
      role="rowheader"
    >
      <span className="foreign max-w-full truncate font-mono text-xs font-medium" title={secret.name}>
        {secret.name}
      </span>
      {isProductShown && <span className="text-muted max-w-full shrink-0 truncate text-xs">{secret.product.name}</span>}
    </div>
    {environments.map((environment, column) => {
      const cell = secret.environments.find((one) => one.environment.id === environment.id)
      const isActive = active.row === row && active.column === column
      const place = cell === undefined ? undefined : { secret, cell }
      const draft = place === undefined ? undefined : batch?.drafts.get(keyOf(place))
      return (
        <div
          className="border-border hover:bg-hover relative flex min-w-0 scroll-ml-(--vault-name) items-center border-b px-3 -outline-offset-2"
          data-active={isActive || undefined}
          data-environment={environment.slug}
          data-product={secret.product.slug}
          key={environment.id}
          onClick={() => {
            onActive({ row, column })
            if (place !== undefined) onOpen(place)
          }}
          role="gridcell"
          tabIndex={isActive ? 0 : -1}
        >
          <span className="sr-only">
            {secret.name} in {environment.name} {words[cell === undefined ? "none" : cellState(cell, secret)]}
            {cell !== undefined && cell.version > 0 && `, version ${cell.version}`}
            {isProductShown && `, of ${secret.product.name}`}
          </span>
          {place !== undefined && (draft !== undefined || editing === keyOf(place)) ? (
            <BatchCell
              draft={draft}
              isEditing={editing === keyOf(place)}
              label={`New value of ${secret.name} in ${environment.name}`}
              onDone={(value) => onEdited(place, value)}
            />
          ) : (
            place !== undefined && (
              <span aria-hidden="true" className="flex min-w-0 items-center gap-1.5">
                <CellContent {...place} />
              </span>
            )
          )}
        </div>
      )
    })}
  </>
)

/** What Enter and Delete do with a cell: among several that are written together, or by itself. */
const useBatch = (batch: Batch | undefined, onOpen: (place: Place) => void) => {
  const isBatch = batch !== undefined
  useEffect(() => {
    if (isBatch) void BatchCell.preload()
  }, [isBatch])
  const [editing, setEditing] = useState<string>()
  useEffect(() => {
    if (editing === undefined) return undefined
    // Where its row was scrolled away with the field, nobody has the keyboard: the rest of a secret is nothing for the page.
    const keep = (event: globalThis.KeyboardEvent) => {
      if (event.target === document.body && isText(event)) event.stopPropagation()
    }
    document.addEventListener("keydown", keep, true)
    return () => document.removeEventListener("keydown", keep, true)
  }, [editing])
  return {
    editing,
    open: (place: Place) => {
      if (batch === undefined) onOpen(place)
      else if (!place.cell.environment.archived) setEditing(keyOf(place))
    },
    clear: (place: Place) => {
      if (batch === undefined || place.cell.environment.archived) return
      batch.onDraft(place, !batch.drafts.has(keyOf(place)) && place.cell.hasValue ? null : undefined)
    },
    finish: (place: Place, value: string | undefined) => {
      setEditing(undefined)
      if (value !== undefined) batch?.onDraft(place, value)
    }
  }
}

/** The first key goes into the grid, and so does the keyboard once several cells are to be edited. */
const useFirstKey = (grid: RefObject<HTMLElement | null>, focusActive: () => void, isBatch: boolean) => {
  const enter = useEffectEvent(() => {
    if (grid.current?.contains(document.activeElement) === false) focusActive()
  })
  useEffect(() => {
    if (!isBatch) return undefined
    // After the menu that it may be chosen in has given the keyboard back.
    const frame = requestAnimationFrame(enter)
    return () => cancelAnimationFrame(frame)
  }, [isBatch])
  useKeys(
    (
      [
        ["j", "Next secret"],
        ["k", "Previous secret"],
        ["ArrowDown", "Cell below"],
        ["ArrowUp", "Cell above"],
        ["ArrowRight", "Cell on the right"],
        ["ArrowLeft", "Cell on the left"]
      ] as const
    ).map(([keys, label]) => ({ keys, label, group: "List", run: focusActive }))
  )
}

interface HeadsProps {
  readonly columns: { readonly gridTemplateColumns: string }
  readonly environments: ReadonlyArray<Column>
  readonly slug: string
}

const Heads = ({ columns, environments, slug }: HeadsProps) => (
  <div
    className="border-border bg-surface text-muted sticky top-0 z-20 grid h-(--row) min-w-max border-b font-medium"
    role="row"
    style={columns}
  >
    <span className="bg-surface border-border sticky left-0 z-10 flex items-center border-r px-4" role="columnheader">
      Name
    </span>
    {environments.map((environment) => (
      <span className="flex min-w-0 items-center px-3" key={environment.id} role="columnheader">
        {/* However long it is, the columns of the heads are those of the rows. */}
        <span className="flex w-0 min-w-full">
          <EnvironmentLink environment={environment} slug={slug} />
        </span>
      </span>
    ))}
  </div>
)

export const VaultGrid = ({ batch, environments, isProductShown, onOpen, secrets, slug }: Props) => {
  const { isMoreRight, scrolled: grid } = useEdges()
  const reveal = useRef<(index: number) => void>(() => {})
  const placeAt = (row: number, column: number): Place | undefined => {
    const secret = secrets[row]
    const cell = secret?.environments.find((one) => one.environment.id === environments[column]?.id)
    return secret === undefined || cell === undefined ? undefined : { secret, cell }
  }
  /** The field in it keeps the keyboard: what is typed there is a secret. */
  const focusActive = () => {
    const cell = grid.current?.querySelector<HTMLElement>("[data-active]")
    if (cell?.contains(document.activeElement) === false) cell.focus()
    // Beside the names, which what has the keyboard may stand below.
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }
  const { clear, editing, finish, open } = useBatch(batch, onOpen)
  useFirstKey(grid, focusActive, batch !== undefined)
  const at = (act: (place: Place) => void) => (row: number, column: number) => {
    const place = placeAt(row, column)
    if (place !== undefined) act(place)
  }
  const { active, onKeyDown, setActive } = useGridKeys(secrets.length, environments.length, {
    open: at(open),
    clear: at(clear),
    takesText: batch !== undefined
  })
  const moved = useRef(active)
  useEffect(() => {
    if (moved.current === active) return
    moved.current = active
    reveal.current(active.row)
    // Drawn once it is in view.
    const frame = requestAnimationFrame(() => {
      if (document.querySelector("[role=dialog]:not([aria-modal=false])") === null) focusActive()
    })
    return () => cancelAnimationFrame(frame)
  }, [active])
  const columns = { gridTemplateColumns: template(environments.length) }
  return (
    <div className="relative flex min-h-0 flex-1">
      <div
        aria-colcount={environments.length + 1}
        aria-label="Secrets"
        aria-rowcount={secrets.length + 1}
        className="relative isolate min-h-0 min-w-0 flex-1 overflow-auto [--vault-name:9.5rem] sm:[--vault-name:16rem] lg:[--vault-name:22rem]"
        onKeyDown={onKeyDown}
        ref={grid}
        role="grid"
      >
        <Heads columns={columns} environments={environments} slug={slug} />
        <div className="min-w-max" data-tall role="rowgroup">
          <DrawnRows
            count={secrets.length}
            isTall
            keyOf={(index) => secrets[index]!.id}
            reveal={reveal}
            row={(row) => (
              <Row
                active={active}
                batch={batch}
                editing={editing}
                environments={environments}
                isProductShown={isProductShown}
                onActive={setActive}
                onEdited={finish}
                onOpen={open}
                row={row}
                secret={secrets[row]!}
              />
            )}
            rowClass="grid h-(--row) scroll-mt-(--row)"
            rowRole="row"
            rowStyle={columns}
            scroller={() => grid.current}
          />
        </div>
      </div>
      {isMoreRight && <MoreRight />}
    </div>
  )
}
