import type { Scope } from "@delivery/domain/Scope"
import { Select } from "../ui/Select.tsx"

/** What a key may do and until when, as its form asks for it. */

/** The roles that a key of the workspace can have. */
export const keyRoles = [
  { value: "viewer", label: "Viewer", hint: "reads" },
  { value: "member", label: "Member", hint: "reads and changes" },
  { value: "admin", label: "Admin", hint: "manages the workspace" }
] as const

export type KeyRole = (typeof keyRoles)[number]["value"]

const scopes = [
  ["read", "Read everything but the vault"],
  ["write", "Change tickets, projects and the like"],
  ["publish", "Publish runs and their files"],
  ["vault", "Read and write secrets; values of production can only be written"],
  ["admin", "Manage the workspace, make keys"]
] as const

/** The scopes as the API takes them; undefined: it is not limited. */
export const limitOf = (chosen: ReadonlySet<Scope>): ReadonlyArray<Scope> | undefined =>
  chosen.size === scopes.length ? undefined : [...chosen]

interface ScopesProps {
  readonly chosen: ReadonlySet<Scope>
  readonly onChange: (chosen: ReadonlySet<Scope>) => void
}

export const Scopes = ({ chosen, onChange }: ScopesProps) => (
  <fieldset className="flex flex-col">
    <legend className="pb-1 font-medium">It may</legend>
    {scopes.map(([scope, meaning]) => (
      <label className="hover:bg-hover flex min-h-7 items-baseline gap-2 rounded-md px-1 py-1" key={scope}>
        <input
          checked={chosen.has(scope)}
          className="accent-accent-fill self-start mt-0.75"
          onChange={({ target }) => {
            const next = new Set(chosen)
            if (target.checked) next.add(scope)
            else next.delete(scope)
            onChange(next)
          }}
          type="checkbox"
        />
        <span className="w-14 shrink-0 font-mono text-xs">{scope}</span>
        <span className="text-muted">{meaning}</span>
      </label>
    ))}
  </fieldset>
)

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never", hint: "it works until it is revoked" }
] as const

export type Lifetime = (typeof lifetimes)[number]["value"]

const dayMillis = 86_400_000

export const endOf = (lifetime: Lifetime): string | null =>
  lifetime === "never" ? null : new Date(Date.now() + Number(lifetime) * dayMillis).toISOString()

interface LifetimeProps {
  readonly value: Lifetime
  readonly onChange: (value: Lifetime) => void
}

export const LifetimeField = ({ onChange, value }: LifetimeProps) => (
  <Select label="It ends after" onChange={onChange} options={lifetimes} value={value} />
)
