/** What of a ticket opens its choices by a click. */
export const askClass = "foreign h-6 min-w-6 truncate rounded-sm enabled:hover:bg-selected"

interface Props {
  readonly tag: { readonly name: string; readonly color: string }
}

/** A tag: a dot of its colour, and its name. */
export const TagBadge = ({ tag: { color, name } }: Props) => (
  <span className="border-border text-muted inline-flex h-5 min-w-0 items-center gap-1.5 rounded-full border px-1.5 text-xs">
    <svg aria-hidden="true" className="shrink-0" height="8" viewBox="0 0 8 8" width="8">
      <circle cx="4" cy="4" fill={/^#[0-9a-f]{6}$/i.test(color) ? color : "currentColor"} r="4" />
    </svg>
    <span className="foreign truncate">{name}</span>
  </span>
)
