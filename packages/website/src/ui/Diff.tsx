export interface DiffLine {
  readonly kind: "added" | "removed" | "changed" | "same" | "refused" | "warned"
  readonly text: string
}

const signs = { added: "+", removed: "−", changed: "~", same: " ", refused: "!", warned: "!" }
const colours = {
  added: "text-success",
  removed: "text-danger",
  changed: "text-warning",
  same: "text-muted",
  refused: "text-danger",
  warned: "text-warning"
}
/** What a screen reader says in place of the sign. */
const words = { refused: "not written", warned: "written, with a warning" }

/** Lines with what becomes of each, by sign and colour. */
export const Diff = ({ label, lines }: { readonly label: string; readonly lines: ReadonlyArray<DiffLine> }) => (
  <ul
    aria-label={label}
    className="border-border bg-sunken max-h-72 overflow-auto rounded-md border py-1 font-mono text-xs"
  >
    {lines.map(({ kind, text }, index) => (
      // Lines may be alike, and are drawn whole.
      <li className={`flex gap-2 px-3 py-0.5 ${colours[kind]}`} key={index}>
        <span aria-hidden="true">{signs[kind]}</span>
        <span className="sr-only">{kind === "refused" || kind === "warned" ? words[kind] : kind}: </span>
        <span className="foreign">{text}</span>
      </li>
    ))}
  </ul>
)
