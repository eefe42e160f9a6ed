import { CopyButton } from "./Copy.tsx"
import { withoutColours } from "./colours.ts"
import { isOfCode, isOfLibrary } from "./stackLines.ts"

/** Lines of a stack: those of the project stand out from those of its libraries. */
export const Stack = ({ text }: { readonly text: string }) => {
  const clean = withoutColours(text)
  const lines = clean.slice(0, 20_000).split("\n").slice(0, 200)
  return (
    <div className="border-border bg-sunken relative rounded-md border">
      <div className="absolute top-1 right-1">
        <CopyButton label="Copy the stack" text={clean} />
      </div>
      <pre
        aria-label="Lines of the stack"
        className="foreign max-h-96 overflow-auto p-3 pr-9 font-mono text-xs whitespace-pre-wrap"
        role="region"
        tabIndex={0}
      >
        {lines.map((line, index) => (
          // Lines have no other identity than their place.
          // Code is not wrapped: a mark below it would point elsewhere.
          <span
            className={`block ${isOfLibrary(line) ? "text-faint" : isOfCode(line) ? "whitespace-pre" : ""}`}
            key={index}
          >
            {line || " "}
          </span>
        ))}
      </pre>
    </div>
  )
}
