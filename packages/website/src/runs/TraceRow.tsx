import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { client, fileUrl } from "../api/client.ts"
import { failureOf } from "../api/failures.ts"
import { workspaceKey } from "../api/queries.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { useKeys } from "../ui/keys.ts"
import Command from "../ui/Command.tsx"
import { fileName, traceCommand } from "./files.ts"

/** A trace: opened in Playwright's trace viewer, in a new tab and on an origin of its own; where there is none, downloaded. */

interface Props {
  readonly path: string
  readonly run: number
  readonly slug: string
  /** The key opens the first of an attempt. */
  readonly isFirst: boolean
}

/** Another URL is asked for in time: they work for 5 minutes. */
const freshMillis = 4 * 60_000

const useSignedUrl = ({ path, run, slug }: Props) =>
  useQuery({
    queryKey: workspaceKey(slug, "signed-url", run, path),
    queryFn: ({ signal }) => client.testRuns.signUrl({ params: { slug, run }, payload: { path } }, { signal }),
    staleTime: freshMillis,
    gcTime: freshMillis,
    refetchInterval: ({ state }) => (state.error === null ? freshMillis : false)
  })

/** The link to the viewer, which a key and the address of the page open, too. */
const OpenTrace = ({ isFirst, url }: { readonly isFirst: boolean; readonly url: string }) => {
  const link = useRef<HTMLAnchorElement>(null)
  // Beside a list, the address is that of the list.
  const { open } = useSearch({ strict: false })
  useKeys(isFirst ? [{ keys: "t", label: "Open the trace", group: "Test", run: () => link.current?.click() }] : [])
  useEffect(() => {
    if (isFirst && open === "trace") location.replace(url)
  }, [isFirst, open, url])
  return (
    <a className={buttonClass()} href={url} ref={link} rel="noopener" target="_blank">
      <Icon name="external" size={14} />
      Open trace
      {isFirst && <Kbd keys="t" />}
    </a>
  )
}

const row = "flex min-h-(--row) flex-wrap items-center gap-2 px-3 py-1"

const TraceRow = (props: Props) => {
  const { isFirst, path, run, slug } = props
  const { data, error } = useSignedUrl(props)
  const { _tag } = error === null ? { _tag: undefined } : failureOf(error)
  const name = (
    <span
      className={`foreign min-w-0 flex-1 truncate font-mono text-xs ${_tag === "NotFound" ? "text-muted" : ""}`}
      title={path}
    >
      {fileName(path)}
    </span>
  )
  if (_tag === "NotFound") {
    return (
      <span className={row}>
        {name}
        <span className="text-muted text-xs">Was never uploaded</span>
      </span>
    )
  }
  const viewer = data?.traceViewerUrl
  return (
    <div className={row}>
      {name}
      {viewer !== undefined && viewer !== null && <OpenTrace isFirst={isFirst} url={viewer} />}
      <a className={buttonClass("quiet")} download={fileName(path)} href={fileUrl(slug, run, path)}>
        <Icon name="download" size={14} />
        Download trace
      </a>
      {(error !== null || viewer === null) && (
        <div className="w-full pb-1">
          <Command label="Copy the line that shows the trace" text={traceCommand(slug, run, path)} />
        </div>
      )}
    </div>
  )
}

export default TraceRow
