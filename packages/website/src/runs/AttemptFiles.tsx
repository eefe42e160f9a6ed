import { useState } from "react"
import { fileUrl } from "../api/client.ts"
import { Icon } from "../ui/Icon.tsx"
import { fileName, imageDiffs, kindOf } from "./files.ts"
import { later } from "../ui/later.tsx"

/** What a test left: pictures and videos shown, texts where asked for, the rest to download. Nothing of it runs in this page. */

const ImageDiffView = later(() => import("./ImageDiffView.tsx"))
const RowToCome = () => <div className="h-(--row)" />
const FileRow = later(() => import("./FileRow.tsx"), RowToCome)
const TraceRow = later(() => import("./TraceRow.tsx"), RowToCome)

interface Props {
  readonly files: ReadonlyArray<string>
  readonly run: number
  readonly slug: string
}

const Missing = ({ path }: { readonly path: string }) => (
  <span
    className="text-muted border-border inline-flex items-center gap-2 rounded-md border border-dashed px-3 py-2"
    title={path}
  >
    <Icon name="file" />
    {fileName(path)} was never uploaded
  </span>
)

const Picture = ({ path, url }: { readonly path: string; readonly url: string }) => {
  const [isMissing, setMissing] = useState(false)
  if (isMissing) return <Missing path={path} />
  return (
    <figure className="flex max-w-full flex-col gap-1">
      <a href={url} rel="noopener" target="_blank">
        <img
          alt={fileName(path)}
          className="border-border bg-sunken max-h-90 max-w-full rounded-md border object-contain"
          loading="lazy"
          onError={() => setMissing(true)}
          src={url}
        />
      </a>
      <figcaption className="text-muted foreign text-xs">{fileName(path)}</figcaption>
    </figure>
  )
}

const Video = ({ path, url }: { readonly path: string; readonly url: string }) => {
  const [isMissing, setMissing] = useState(false)
  if (isMissing) return <Missing path={path} />
  return (
    <figure className="flex max-w-full flex-col gap-1">
      {/* Recordings of tests have no sound, so there is nothing to write below them. */}
      <video
        aria-label={fileName(path)}
        className="border-border bg-sunken max-h-90 max-w-full rounded-md border"
        controls
        onError={() => setMissing(true)}
        preload="metadata"
        src={url}
      />
      <figcaption className="text-muted foreign text-xs">{fileName(path)}</figcaption>
    </figure>
  )
}

/** What says most where a page looks different: before the words about it. */
export const PictureDiffs = ({ files, run, slug }: Props) =>
  imageDiffs(files).map((diff) => <ImageDiffView diff={diff} key={diff.expected} run={run} slug={slug} />)

/** The others. */
export const AttemptFiles = ({ files, run, slug }: Props) => {
  const compared = new Set(imageDiffs(files).flatMap(({ actual, diff, expected }) => [expected, actual, diff]))
  const shown = files.filter((path) => ["image", "video"].includes(kindOf(path)) && !compared.has(path))
  const others = files.filter((path) => !shown.includes(path) && !compared.has(path))
  const firstText = others.find((path) => kindOf(path) === "text")
  const firstTrace = others.find((path) => kindOf(path) === "trace")
  if (shown.length + others.length === 0) return null
  return (
    <section aria-label="Files" className="flex flex-col gap-3">
      {shown.length > 0 && (
        <>
          <h2 className="font-medium">Pictures and videos</h2>
          <div className="flex flex-wrap gap-3">
            {shown.map((path) =>
              kindOf(path) === "image" ? (
                <Picture key={path} path={path} url={fileUrl(slug, run, path)} />
              ) : (
                <Video key={path} path={path} url={fileUrl(slug, run, path)} />
              )
            )}
          </div>
        </>
      )}
      {others.length > 0 && (
        <>
          <h2 className="font-medium">Files</h2>
          <ul className="border-border rounded-md border">
            {others.map((path) => (
              <li className="border-border not-last:border-b" key={path}>
                {kindOf(path) === "trace" ? (
                  <TraceRow isFirst={path === firstTrace} path={path} run={run} slug={slug} />
                ) : (
                  <FileRow isFirst={path === firstText} path={path} run={run} slug={slug} />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
