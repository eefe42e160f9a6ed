import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"
import type { EnvironmentRef } from "@delivery/domain/catalog/Environment"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { EnvironmentName } from "../catalog/EnvironmentName.tsx"
import { Icon } from "../ui/Icon.tsx"
import { DrawnRows } from "../ui/Rows.tsx"
import { Time } from "../ui/Time.tsx"
import { cellState } from "./rows.ts"

/** Names by environments, as a grid that the keyboard walks: arrows move, Enter opens. */

export interface Place {
  readonly secret: Secret
  readonly cell: SecretEnvironment
}

interface Props {
  readonly environments: ReadonlyArray<EnvironmentRef>
  readonly secrets: ReadonlyArray<Secret>
  readonly isProductShown: boolean
  readonly onOpen: (place: Place) => void
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

const useGridKeys = (rows: number, columns: number, open: (row: number, column: number) => void) => {
  const [active, setActive] = useState({ row: 0, column: 0 })
  const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowDown: [1, 0],
    ArrowUp: [-1, 0],
    ArrowRight: [0, 1],
    ArrowLeft: [0, -1],
    PageDown: [12, 0],
    PageUp: [-12, 0]
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined) {
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
}

const Row = ({ active, environments, isProductShown, onActive, onOpen, row, secret }: RowProps) => (
  <>
    <div
      className="border-border bg-surface sticky left-0 z-10 flex min-w-0 items-center gap-2 border-r border-b px-4"
      role="rowheader"
    >
      <span className="foreign truncate font-mono text-xs font-medium" title={secret.name}>
        {secret.name}
      </span>
      {isProductShown && (
        <span className="text-muted shrink-0 truncate text-xs max-sm:hidden">{secret.product.name}</span>
      )}
    </div>
    {environments.map((environment, column) => {
      const cell = secret.environments.find((one) => one.environment.id === environment.id)
      const isActive = active.row === row && active.column === column
      return (
        <div
          className="border-border hover:bg-hover relative flex min-w-0 items-center border-b px-3 -outline-offset-2"
          data-active={isActive || undefined}
          key={environment.id}
          onClick={() => {
            onActive({ row, column })
            if (cell !== undefined) onOpen({ secret, cell })
          }}
          role="gridcell"
          tabIndex={isActive ? 0 : -1}
        >
          <span className="sr-only">
            {secret.name} in {environment.name} {words[cell === undefined ? "none" : cellState(cell, secret)]}
            {cell !== undefined && cell.version > 0 && `, version ${cell.version}`}
          </span>
          {cell !== undefined && (
            <span aria-hidden="true" className="flex min-w-0 items-center gap-1.5">
              <CellContent cell={cell} secret={secret} />
            </span>
          )}
        </div>
      )
    })}
  </>
)

export const VaultGrid = ({ environments, isProductShown, onOpen, secrets }: Props) => {
  const grid = useRef<HTMLDivElement>(null)
  const reveal = useRef<(index: number) => void>(() => {})
  const open = (row: number, column: number) => {
    const secret = secrets[row]
    const cell = secret?.environments.find((one) => one.environment.id === environments[column]?.id)
    if (secret !== undefined && cell !== undefined) onOpen({ secret, cell })
  }
  const { active, onKeyDown, setActive } = useGridKeys(secrets.length, environments.length, open)
  const moved = useRef(active)
  useEffect(() => {
    if (moved.current === active) return
    moved.current = active
    reveal.current(active.row)
    // Drawn once it is in view.
    const frame = requestAnimationFrame(() => {
      if (document.querySelector("[role=dialog]:not([aria-modal=false])") === null)
        grid.current?.querySelector<HTMLElement>("[data-active]")?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [active])
  const columns = { gridTemplateColumns: template(environments.length) }
  return (
    <div
      aria-colcount={environments.length + 1}
      aria-label="Secrets"
      aria-rowcount={secrets.length + 1}
      className="relative min-h-0 flex-1 overflow-auto [--vault-name:9.5rem] sm:[--vault-name:16rem] lg:[--vault-name:22rem]"
      onKeyDown={onKeyDown}
      ref={grid}
      role="grid"
    >
      <div
        className="border-border bg-surface text-muted sticky top-0 z-20 grid h-(--row) min-w-max border-b font-medium"
        role="row"
        style={columns}
      >
        <span
          className="bg-surface border-border sticky left-0 z-10 flex items-center border-r px-4"
          role="columnheader"
        >
          Name
        </span>
        {environments.map((environment) => (
          <span className="flex min-w-0 items-center px-3" key={environment.id} role="columnheader">
            <EnvironmentName environment={environment} />
          </span>
        ))}
      </div>
      <div className="min-w-max" role="rowgroup">
        <DrawnRows
          count={secrets.length}
          keyOf={(index) => secrets[index]!.id}
          reveal={reveal}
          row={(row) => (
            <Row
              active={active}
              environments={environments}
              isProductShown={isProductShown}
              onActive={setActive}
              onOpen={onOpen}
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
  )
}
