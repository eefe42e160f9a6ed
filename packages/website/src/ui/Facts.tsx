import type { ReactNode } from "react"

/** Names with what they are, one below the other. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) => (
  <dl className="flex flex-col">
    {facts.map(([name, value]) => (
      <div className="border-border flex min-h-(--row) flex-wrap items-center gap-x-4 border-b px-4 py-1" key={name}>
        <dt className="text-muted w-44 shrink-0 max-sm:w-full">{name}</dt>
        <dd className="foreign min-w-0 flex-1 max-sm:basis-full">{value}</dd>
      </div>
    ))}
  </dl>
)
