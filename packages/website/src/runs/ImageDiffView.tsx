import { type CSSProperties, type ReactNode, useState } from "react"
import { fileUrl } from "../api/client.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { pressedClass } from "../ui/Filter.tsx"
import { useKeys } from "../ui/keys.ts"
import type { ImageDiff } from "./files.ts"

/** What a page should look like and what it did look like, in five ways: the keys 1 to 5 choose, and the zoom stays. */

const ways = ["Slider", "Side by side", "Onion skin", "Difference", "One at a time"] as const
type Way = (typeof ways)[number]

/** Steps of the zoom; null fits into the width. */
const zooms = [null, 0.5, 1, 2, 4] as const

/** What was chosen last stays for the next picture. */
let kept: { readonly way: Way; readonly zoom: number } = { way: "Difference", zoom: 0 }

interface Urls {
  readonly expected: string
  readonly actual: string
  readonly diff: string | undefined
}

interface PictureProps {
  readonly src: string
  readonly label: string
  readonly zoom: number | null
  readonly className?: string
  readonly style?: CSSProperties
}

/** A picture at its own size times the zoom. */
const Picture = ({ className = "", label, src, style, zoom }: PictureProps) => {
  const [width, setWidth] = useState<number>()
  const [isMissing, setMissing] = useState(false)
  if (isMissing) return <p className="text-muted p-3">{label} was never uploaded</p>
  return (
    <img
      alt={label}
      className={`block max-w-none ${zoom !== null && zoom >= 2 ? "[image-rendering:pixelated]" : ""} ${className}`}
      onError={() => setMissing(true)}
      onLoad={({ currentTarget }) => setWidth(currentTarget.naturalWidth)}
      src={src}
      style={{ ...style, width: zoom === null || width === undefined ? "100%" : `${width * zoom}px` }}
    />
  )
}

const Range = ({
  label,
  onChange,
  value
}: {
  readonly label: string
  readonly value: number
  readonly onChange: (value: number) => void
}) => (
  <input
    aria-label={label}
    className="accent-accent w-full"
    max={100}
    min={0}
    onChange={({ target }) => onChange(Number(target.value))}
    type="range"
    value={value}
  />
)

interface StackedProps extends Omit<Urls, "diff"> {
  readonly zoom: number | null
  readonly style: CSSProperties
  /** Where one ends and the other begins, in percent. */
  readonly split?: number
}

/** One picture over the other. */
const Stacked = ({ actual, expected, split, style, zoom }: StackedProps) => (
  <div className="relative w-fit min-w-full">
    <Picture label="Expected" src={expected} zoom={zoom} />
    <div className="absolute inset-0" style={style}>
      <Picture label="Actual" src={actual} zoom={zoom} />
    </div>
    {split !== undefined && (
      <div
        className="border-accent absolute inset-y-0 -translate-x-1/2 border-l-2"
        data-split
        style={{ left: `${split}%` }}
      />
    )}
  </div>
)

/** What is what, above the pictures. Screen readers have it as the names of these. */
const Labels = ({ words }: { readonly words: ReadonlyArray<string> }) => (
  <p aria-hidden="true" className="text-muted flex justify-between gap-2 text-xs">
    {words.map((word) => (
      <span key={word}>{word}</span>
    ))}
  </p>
)

const Frame = ({ children, label }: { readonly children: ReactNode; readonly label: string }) => (
  <div
    aria-label={label}
    className="border-border bg-sunken max-h-140 min-h-40 min-w-0 flex-1 overflow-auto rounded-md border"
    role="region"
    tabIndex={0}
  >
    {children}
  </div>
)

const View = ({ urls, way, zoom }: { readonly urls: Urls; readonly way: Way; readonly zoom: number | null }) => {
  const [share, setShare] = useState(50)
  const [isActual, setActual] = useState(true)
  const { actual, diff, expected } = urls
  switch (way) {
    case "Slider":
      return (
        <>
          <Labels words={["Expected", "Actual"]} />
          <Frame label="Expected on the left, actual on the right">
            <Stacked
              actual={actual}
              expected={expected}
              split={share}
              style={{ clipPath: `inset(0 0 0 ${share}%)` }}
              zoom={zoom}
            />
          </Frame>
          <Range label="How much of the expected picture is shown" onChange={setShare} value={share} />
        </>
      )
    case "Side by side":
      return (
        <div className="flex gap-2 max-sm:flex-col">
          <div className="flex min-w-0 flex-1 flex-col gap-1">
            <Labels words={["Expected"]} />
            <Frame label="Expected">
              <Picture label="Expected" src={expected} zoom={zoom} />
            </Frame>
          </div>
          <div className="flex min-w-0 flex-1 flex-col gap-1">
            <Labels words={["Actual"]} />
            <Frame label="Actual">
              <Picture label="Actual" src={actual} zoom={zoom} />
            </Frame>
          </div>
        </div>
      )
    case "Onion skin":
      return (
        <>
          <Labels words={["Expected", "Actual"]} />
          <Frame label="Actual over expected">
            <Stacked actual={actual} expected={expected} style={{ opacity: share / 100 }} zoom={zoom} />
          </Frame>
          <Range label="How much the actual picture covers" onChange={setShare} value={share} />
        </>
      )
    case "Difference":
      return (
        <Frame label="Difference">
          {diff === undefined ? (
            <div className="bg-[oklch(0_0_0)]">
              <Stacked actual={actual} expected={expected} style={{ mixBlendMode: "difference" }} zoom={zoom} />
            </div>
          ) : (
            <Picture label="Difference" src={diff} zoom={zoom} />
          )}
        </Frame>
      )
    case "One at a time":
      return (
        <>
          <Frame label={isActual ? "Actual" : "Expected"}>
            <Picture label={isActual ? "Actual" : "Expected"} src={isActual ? actual : expected} zoom={zoom} />
          </Frame>
          <div>
            <Button onClick={() => setActual(!isActual)}>Show what was {isActual ? "expected" : "there"}</Button>
          </div>
        </>
      )
  }
}

interface Props {
  readonly diff: ImageDiff
  readonly run: number
  readonly slug: string
}

const ImageDiffView = ({ diff, run, slug }: Props) => {
  const [chosen, setChosen] = useState(kept)
  const choose = (change: Partial<typeof kept>) => {
    kept = { ...kept, ...change }
    setChosen(kept)
  }
  const step = (by: number) => choose({ zoom: Math.max(0, Math.min(zooms.length - 1, kept.zoom + by)) })
  useKeys([
    ...ways.map((way, index) => ({
      keys: String(index + 1),
      label: way,
      group: "Pictures",
      run: () => choose({ way })
    })),
    { keys: "+", label: "Larger", group: "Pictures", run: () => step(1) },
    { keys: "-", label: "Smaller", group: "Pictures", run: () => step(-1) },
    { keys: "0", label: "Fit", group: "Pictures", run: () => choose({ zoom: 0 }) }
  ])
  const zoom = zooms[chosen.zoom] ?? null
  const url = (path: string) => fileUrl(slug, run, path)
  const urls = {
    expected: url(diff.expected),
    actual: url(diff.actual),
    diff: diff.diff === undefined ? undefined : url(diff.diff)
  }
  return (
    <section aria-label={`Difference of ${diff.name}`} className="flex flex-col gap-2">
      <h2 className="foreign font-medium">{diff.name} looks different</h2>
      <div className="flex flex-wrap items-center gap-1">
        {ways.map((way, index) => (
          <button
            aria-keyshortcuts={String(index + 1)}
            aria-pressed={chosen.way === way}
            className={pressedClass}
            data-tip={`${way}|${index + 1}`}
            key={way}
            onClick={() => choose({ way })}
            type="button"
          >
            {way}
          </button>
        ))}
        <span className="ml-auto flex items-center gap-1">
          <IconButton icon="dash" label="Smaller" onClick={() => step(-1)} shortcut="-" />
          <span className="tabular w-12 text-center">{zoom === null ? "Fit" : `${zoom * 100} %`}</span>
          <IconButton icon="plus" label="Larger" onClick={() => step(1)} shortcut="+" />
        </span>
      </div>
      <View urls={urls} way={chosen.way} zoom={zoom} />
    </section>
  )
}

export default ImageDiffView
