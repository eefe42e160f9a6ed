import { useQuery } from "@tanstack/react-query"
import { type RefObject, useEffect, useRef } from "react"
import { fileUrl } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { CodeBlock } from "../ui/Code.tsx"
import { formatBytes } from "../ui/formatBytes.ts"
import { SkeletonRows } from "../ui/States.tsx"
import { fileName } from "./files.ts"

/** The beginning of a text that a test left. Whatever it holds, it stays text. */

interface Props {
  readonly path: string
  readonly run: number
  readonly slug: string
  /** It comes into view and takes the keyboard: what shows it is elsewhere. */
  readonly isGoneTo: boolean
}

/** What is read of it. The rest of a large one is never sent. */
const mostBytes = 64 * 1024

const readStart = async (url: string, signal: AbortSignal) => {
  const answer = await fetch(url, { signal })
  if (!answer.ok || answer.body === null) throw new Error(`The server answered ${answer.status}.`)
  const reader = answer.body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let room = mostBytes
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a stream comes piece by piece
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), isCut: false }
    text += decoder.decode(value.subarray(0, room), { stream: true })
    room -= value.length
    if (room < 0) {
      void reader.cancel()
      return { text, isCut: true }
    }
  }
}

const FileText = ({ isGoneTo, path, run, slug }: Props) => {
  const { data, error } = useQuery({
    queryKey: workspaceKey(slug, "file-text", run, path),
    queryFn: ({ signal }) => readStart(fileUrl(slug, run, path), signal),
    staleTime: Infinity,
    gcTime: 60_000
  })
  const place = useRef<HTMLElement>(null)
  const isThere = error !== null || data !== undefined
  useEffect(() => {
    if (!isGoneTo || !isThere) return
    const text = place.current?.querySelector<HTMLElement>("[role=region]")
    text?.focus({ preventScroll: true })
    place.current?.scrollIntoView({ block: "nearest" })
  }, [isGoneTo, isThere])
  if (error !== null) {
    return (
      <p className="text-danger px-3 pb-3" ref={place as RefObject<HTMLParagraphElement>} role="alert">
        The file could not be read. {error.message}
      </p>
    )
  }
  if (data === undefined) return <SkeletonRows rows={2} />
  return (
    <div className="flex scroll-my-4 flex-col gap-2 px-3 pb-3" ref={place as RefObject<HTMLDivElement>}>
      {data.text === "" ? (
        <p className="text-muted">The file is empty.</p>
      ) : (
        <CodeBlock label={fileName(path)} text={data.text} />
      )}
      {data.isCut && (
        <p className="text-muted">This is how it begins: {formatBytes(mostBytes)} of it. Open the file for the rest.</p>
      )}
    </div>
  )
}

export default FileText
