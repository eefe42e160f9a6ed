import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { fileUrl } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { fileName, kindOf } from "./files.ts"

/** A file of a test: a text, such as what it wrote to the console, is shown in its place; others are opened or downloaded. */

const FileText = later(() => import("./FileText.tsx"))

interface Props {
  readonly path: string
  readonly run: number
  readonly slug: string
  /** The key shows the first text of an attempt. */
  readonly isFirst: boolean
}

const words = {
  trace: "Trace",
  text: "Text",
  image: "Picture",
  video: "Video",
  other: "File"
}

/** A test may name files that were never uploaded. */
const useIsThere = ({ path, run, slug }: Props): boolean =>
  useQuery({
    queryKey: workspaceKey(slug, "file", run, path),
    queryFn: async ({ signal }) => (await fetch(fileUrl(slug, run, path), { method: "HEAD", signal })).ok,
    staleTime: 60_000
  }).data ?? true

const TextButton = ({
  isFirst,
  isShown,
  name,
  onKey,
  onToggle
}: {
  readonly isFirst: boolean
  readonly isShown: boolean
  readonly name: string
  readonly onKey: () => void
  readonly onToggle: () => void
}) => {
  useKeys(isFirst ? [{ keys: "o", label: "Show what it wrote", group: "Test", run: onKey }] : [])
  const verb = isShown ? "Hide" : "Show"
  return (
    <Button aria-expanded={isShown} look="quiet" onClick={onToggle} {...(isFirst ? { shortcut: "o" } : {})}>
      <span>
        {verb}
        <span className="sr-only"> {name}</span>
      </span>
    </Button>
  )
}

const FileRow = (props: Props) => {
  const { isFirst, path, run, slug } = props
  const isThere = useIsThere(props)
  const [shown, setShown] = useState<"pressed" | "key">()
  const toggle = (by: "pressed" | "key") => () => setShown(shown === undefined ? by : undefined)
  const kind = kindOf(path)
  const name = fileName(path)
  const content = (
    <>
      <span className="text-muted">
        <Icon name={kind === "text" ? "file" : "download"} />
      </span>
      <span className={`foreign min-w-0 flex-1 truncate font-mono text-xs ${isThere ? "" : "text-muted"}`} title={path}>
        {name}
      </span>
      <span className="text-muted text-xs">{isThere ? words[kind] : "Was never uploaded"}</span>
    </>
  )
  const row = "flex h-(--row) min-w-0 flex-1 items-center gap-2 px-3"
  if (!isThere) return <span className={row}>{content}</span>
  return (
    <>
      <div className="hover:bg-hover flex items-center pr-1">
        <a className={row} href={fileUrl(slug, run, path)} rel="noopener" target="_blank">
          {content}
        </a>
        {kind === "text" && (
          <TextButton
            isFirst={isFirst}
            isShown={shown !== undefined}
            name={name}
            onKey={toggle("key")}
            onToggle={toggle("pressed")}
          />
        )}
      </div>
      {shown !== undefined && <FileText isGoneTo={shown === "key"} path={path} run={run} slug={slug} />}
    </>
  )
}

export default FileRow
