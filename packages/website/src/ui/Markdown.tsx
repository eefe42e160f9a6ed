import type { Definition, List, ListItem, Nodes, Root, Table } from "mdast"
import { Fragment, type ReactNode, use, useMemo, useState } from "react"
import { FilesContext } from "./files.ts"
import { Icon } from "./Icon.tsx"
import { partsOf } from "./identifierParts.ts"
import { type Identifiers, IdentifiersContext } from "./identifiers.ts"
import { treeOf } from "./markdown.ts"
import { PathLink } from "./PathLink.tsx"
import { ticked } from "./tasks.ts"

/** Markdown of others as elements: nothing in it runs, and nothing is loaded from elsewhere. Pictures are files of this service. Load it lazily. */

interface Props {
  readonly text: string
  /** Told of a box of a list of tasks that is ticked, and of the text with it; without it boxes only show. */
  readonly onTick?: ((text: string) => void) | undefined
}

const headings = ["text-lg font-semibold", "text-md font-semibold", "font-semibold", "font-medium"] as const

/** The file that a text refers to by `attachment:ID`; undefined for another address. */
const attachmentIn = (url: string): string | undefined => /^attachment:([0-9a-f-]{36})$/i.exec(url)?.[1]?.toLowerCase()

/** The address of a picture that a test run of this service has; undefined for another: nothing else is asked for by a text. */
const runPicture = (url: string): string | undefined => {
  const { origin } = location
  const at = URL.canParse(url, origin) ? new URL(url, origin) : undefined
  return at?.origin === origin &&
    /^\/v1\/workspaces\/[^/]+\/test-runs\/\d+\/files\/.+\.(?:png|jpe?g|gif|webp|avif)$/i.test(at.pathname)
    ? at.pathname
    : undefined
}

const fileLink = "text-accent underline"

interface FileProps {
  readonly id: string
  /** What the text has for it. */
  readonly children: ReactNode
}

const FileLink = ({ children, id }: FileProps) => {
  const file = use(FilesContext)(id)
  return file == null ? (
    <span title={file === null ? "There is no such file on this ticket." : undefined}>{children}</span>
  ) : (
    <a className={fileLink} href={file.url} rel="noopener" target="_blank" title={file.name}>
      {children}
    </a>
  )
}

interface ShownPictureProps {
  readonly alt: string
  readonly name: string
  readonly url: string
}

/** A picture of this service is shown, and leads to itself in its own size. */
const ShownPicture = ({ alt, name, url }: ShownPictureProps) => {
  const [isGone, setGone] = useState(false)
  const label = alt === "" ? name : alt
  return (
    <a className="inline-block max-w-full" href={url} rel="noopener" target="_blank" title={name}>
      {isGone ? (
        <span className="text-muted">{label}: the picture is not there</span>
      ) : (
        <img
          alt={label}
          className="border-border max-h-120 max-w-full rounded-md border"
          loading="lazy"
          onError={() => setGone(true)}
          src={url}
        />
      )}
    </a>
  )
}

/** A file of the ticket: another than a picture is a link. */
const Picture = ({ alt, id }: { readonly id: string; readonly alt: string }) => {
  const file = use(FilesContext)(id)
  if (file == null || !file.isPicture) return <FileLink id={id}>{alt === "" ? (file?.name ?? id) : alt}</FileLink>
  return <ShownPicture alt={alt} name={file.name} url={file.url} />
}

/** A link of others leads to a page of the web, to a page of this website, to a file of the ticket, or nowhere. */
const Anchor = ({ children, url }: { readonly url: string; readonly children: ReactNode }) => {
  const file = attachmentIn(url)
  if (file !== undefined) return <FileLink id={file}>{children}</FileLink>
  if (/^(?:user|agent):/i.test(url)) return <span className="text-accent font-medium">{children}</span>
  if (/^\/(?![/\\])/.test(url)) {
    return (
      <span className="text-accent *:underline">
        <PathLink path={url}>{children}</PathLink>
      </span>
    )
  }
  return /^(?:https?:|mailto:)/i.test(url) ? (
    <a className="text-accent underline" href={url} rel="noopener noreferrer nofollow" target="_blank" title={url}>
      {children}
    </a>
  ) : (
    <span title={url}>{children}</span>
  )
}

const listClass = "flex flex-col gap-1 pl-5"

interface Render {
  /** Where references lead. */
  readonly definitions: ReadonlyMap<string, Definition>
  readonly identifiers: Identifiers | undefined
  readonly tick: ((item: ListItem) => void) | undefined
}

const Words = ({ identifiers, text }: { readonly identifiers: Identifiers | undefined; readonly text: string }) =>
  identifiers === undefined ? (
    <>{text}</>
  ) : (
    partsOf(text, identifiers.keys).map((part, index) =>
      part.isTicket ? (
        <span className="text-accent *:hover:underline" key={index}>
          <PathLink path={identifiers.pathOf(part.text)}>{part.text}</PathLink>
        </span>
      ) : (
        <Fragment key={index}>{part.text}</Fragment>
      )
    )
  )

const textOf = (node: Nodes): string =>
  "value" in node ? node.value : "children" in node ? node.children.map(textOf).join("") : ""

const Box = ({ item, tick }: { readonly item: ListItem; readonly tick: Render["tick"] }) =>
  tick === undefined ? (
    <span
      className={`mt-0.5 inline-flex size-4 shrink-0 items-center justify-center rounded-sm border ${item.checked === true ? "bg-accent-fill text-on-fill border-transparent" : "border-strong"}`}
    >
      {item.checked === true && <Icon name="check" size={12} />}
      <span className="sr-only">{item.checked === true ? "Done: " : "To do: "}</span>
    </span>
  ) : (
    <input
      aria-label={textOf(item).slice(0, 100)}
      checked={item.checked === true}
      className="mt-0.5 size-4 shrink-0"
      onChange={() => tick(item)}
      type="checkbox"
    />
  )

const keyed = (nodes: ReadonlyArray<Nodes>, render: Render): ReactNode =>
  nodes.map((node, index) => <Fragment key={index}>{drawn(node, render)}</Fragment>)

const drawnList = ({ children, ordered, start }: List, render: Render): ReactNode => {
  const items = children.map((item, index) => (
    <li className={typeof item.checked === "boolean" ? "-ml-5 flex list-none gap-2" : ""} key={index}>
      {typeof item.checked === "boolean" && <Box item={item} tick={render.tick} />}
      <div className="flex min-w-0 flex-col gap-1">{keyed(item.children, render)}</div>
    </li>
  ))
  return ordered === true ? (
    <ol className={`list-decimal ${listClass}`} start={start ?? 1}>
      {items}
    </ol>
  ) : (
    <ul className={`list-disc ${listClass}`}>{items}</ul>
  )
}

const drawnTable = ({ children: [head, ...rows] }: Table, render: Render): ReactNode => (
  <div aria-label="Table" className="overflow-x-auto" role="region" tabIndex={0}>
    {/* What does not fit is scrolled to: no word is broken. */}
    <table className="border-collapse text-left break-normal">
      <thead>
        <tr>
          {head?.children.map((cell, index) => (
            <th className="border-border border px-2 py-1 font-medium" key={index} scope="col">
              {keyed(cell.children, render)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.children.map((cell, index) => (
              <td className="border-border border px-2 py-1" key={index}>
                {keyed(cell.children, render)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const Source = ({ children }: { readonly children: string }) => (
  <pre
    className="border-border bg-sunken overflow-x-auto rounded-md border px-3 py-2 font-mono text-xs whitespace-pre-wrap"
    tabIndex={0}
  >
    {children}
  </pre>
)

const drawn = (node: Nodes, render: Render): ReactNode => {
  switch (node.type) {
    case "paragraph":
      // As people write comments: a new line is one.
      return <p className="whitespace-pre-line">{keyed(node.children, render)}</p>
    case "heading": {
      const Heading = `h${Math.min(6, node.depth + 2)}` as "h3" | "h4" | "h5" | "h6"
      return <Heading className={headings[Math.min(3, node.depth - 1)]}>{keyed(node.children, render)}</Heading>
    }
    case "text":
      return <Words identifiers={render.identifiers} text={node.value} />
    case "emphasis":
      return <em>{keyed(node.children, render)}</em>
    case "strong":
      return <strong className="font-semibold">{keyed(node.children, render)}</strong>
    case "delete":
      return <del>{keyed(node.children, render)}</del>
    case "inlineCode":
      return <code className="bg-hover rounded-sm px-1 font-mono text-xs">{node.value}</code>
    case "code":
      return <Source>{node.value}</Source>
    case "html":
      return node.value
    case "blockquote":
      return (
        <blockquote className="border-strong text-muted flex flex-col gap-2 border-l-2 pl-3">
          {keyed(node.children, render)}
        </blockquote>
      )
    case "list":
      return drawnList(node, render)
    case "table":
      return drawnTable(node, render)
    case "thematicBreak":
      return <hr className="border-border border-t" />
    case "break":
      return <br />
    case "link":
      return <Anchor url={node.url}>{keyed(node.children, render)}</Anchor>
    case "linkReference": {
      const to = render.definitions.get(node.identifier)
      const children = keyed(node.children, render)
      return to === undefined ? children : <Anchor url={to.url}>{children}</Anchor>
    }
    case "image": {
      const file = attachmentIn(node.url)
      if (file !== undefined) return <Picture alt={node.alt ?? ""} id={file} />
      const picture = runPicture(node.url)
      const alt = node.alt || node.url
      return picture === undefined ? (
        <Anchor url={node.url}>{alt}</Anchor>
      ) : (
        <ShownPicture alt={alt} name={alt} url={picture} />
      )
    }
    case "imageReference":
      return node.alt ?? ""
    case "footnoteReference":
      return <sup>{node.label ?? node.identifier}</sup>
    case "footnoteDefinition":
      return (
        <div className="text-muted flex gap-2 text-xs">
          <sup>{node.label ?? node.identifier}</sup>
          <div>{keyed(node.children, render)}</div>
        </div>
      )
    default:
      return null
  }
}

const definitionsOf = (root: Root): Render["definitions"] =>
  new Map(root.children.flatMap((node) => (node.type === "definition" ? [[node.identifier, node] as const] : [])))

const Markdown = ({ onTick, text }: Props) => {
  const root = useMemo(() => treeOf(text), [text])
  const identifiers = use(IdentifiersContext)
  const tick = onTick === undefined ? undefined : (item: ListItem) => onTick(ticked(text, item))
  return (
    <div className="foreign flex min-w-0 flex-col gap-2">
      {root === undefined ? (
        <Source>{text}</Source>
      ) : (
        keyed(root.children, { definitions: definitionsOf(root), identifiers, tick })
      )}
    </div>
  )
}

export default Markdown
