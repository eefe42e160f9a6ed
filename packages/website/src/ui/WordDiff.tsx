export interface DiffPart {
  readonly kind: "added" | "removed" | "same"
  readonly text: string
}

/** A text with the words that came underlined, and those that went struck out. */
export const WordDiff = ({ label, parts }: { readonly label: string; readonly parts: ReadonlyArray<DiffPart> }) => (
  <div
    aria-label={label}
    className="border-border bg-sunken foreign max-h-72 overflow-auto rounded-md border px-3 py-2 whitespace-pre-wrap"
    role="group"
    // Long texts are scrolled by keyboard, too.
    tabIndex={0}
  >
    {parts.map(({ kind, text }, index) =>
      // Parts may be alike, and are drawn whole.
      kind === "same" ? (
        <span key={index}>{text}</span>
      ) : kind === "added" ? (
        <ins className="bg-success-soft text-success underline" key={index}>
          <span className="sr-only">added: </span>
          {text}
        </ins>
      ) : (
        <del className="bg-danger-soft text-danger line-through" key={index}>
          <span className="sr-only">removed: </span>
          {text}
        </del>
      )
    )}
  </div>
)
