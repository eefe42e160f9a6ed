import { Icon } from "../ui/Icon.tsx"

interface Props {
  readonly environment: {
    readonly name: string
    readonly class: string
    readonly emoji?: string | null
    readonly archived?: boolean
  }
}

/**
 * An environment by name: production is marked, by a sign and for screen readers by a word. The name comes first: with an emoji
 * or without, names begin where the column does.
 */
export const EnvironmentName = ({ environment }: Props) => (
  <span className="inline-flex max-w-full min-w-0 items-center gap-1.5">
    <span className="foreign truncate">{environment.name}</span>
    {environment.emoji != null && <span aria-hidden="true">{environment.emoji}</span>}
    {environment.class === "production" && (
      <span className="text-warning" title="Production">
        <Icon name="lock" size={12} />
        <span className="sr-only">(production)</span>
      </span>
    )}
  </span>
)
