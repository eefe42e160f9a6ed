import { Button } from "../ui/Button.tsx"
import { formatRate } from "../ui/rate.ts"
import type { Upload } from "./useUploads.ts"

/** What is being attached, how far it is, and what could not be. */
export const UploadList = ({ uploads }: { readonly uploads: ReadonlyArray<Upload> }) =>
  uploads.length === 0 ? null : (
    <ul aria-label="Uploads" className="flex flex-col gap-1 px-3 py-2 text-xs">
      {uploads.map(({ end, fraction, key, name, problem }) => (
        <li className="quiet-end flex min-h-7 flex-wrap items-center gap-2" key={key}>
          {problem === undefined ? (
            <>
              <span className="foreign min-w-0 truncate">{name}</span>
              <progress aria-label={`Upload of ${name}`} className="h-1.5 w-24" max={1} value={fraction} />
              <span className="text-muted tabular flex-1">{formatRate(Math.floor(fraction * 100) / 100)}</span>
            </>
          ) : (
            <p className="text-danger min-w-0 flex-1" role="alert">
              <span className="foreign">{name}</span> could not be attached. {problem}
            </p>
          )}
          <Button aria-label={`${problem === undefined ? "Cancel" : "Dismiss"} ${name}`} look="quiet" onClick={end}>
            {problem === undefined ? "Cancel" : "Dismiss"}
          </Button>
        </li>
      ))}
    </ul>
  )
