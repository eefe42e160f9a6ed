import { type ReactNode, useState } from "react"
import { CategoryMark } from "../planning/CategoryMark.tsx"
import { ProgressBar, progressText } from "../planning/Progress.tsx"
import { projectStatuses, ProjectStatusMark } from "../planning/ProjectStatusMark.tsx"
import { TagBadge } from "../planning/TagBadge.tsx"
import { TargetDate } from "../planning/TargetDate.tsx"
import { Button } from "../ui/Button.tsx"
import { Changes } from "../ui/Changes.tsx"
import { formatCount } from "../ui/format.ts"
import { formatRate } from "../ui/rate.ts"
import { later } from "../ui/later.tsx"
import { Plot, type PlotProps } from "../ui/Plot.tsx"
import PlotTable from "../ui/PlotTable.tsx"
import { WordDiff } from "../ui/WordDiff.tsx"

/** What screens show of things: marks, texts, what has changed, and numbers over days, for the page of all parts. */

const Markdown = later(() => import("../ui/Markdown.tsx"))
const ShownOnce = later(async () => ({ default: (await import("../ui/ShownOnce.tsx")).ShownOnce }))
const Tabs = later(async () => ({ default: (await import("../ui/Tabs.tsx")).Tabs }))

interface PartProps {
  readonly title: string
  readonly children: ReactNode
}

export const Part = ({ children, title }: PartProps) => (
  <section aria-label={title} className="border-border flex flex-col gap-3 border-b px-4 py-4">
    <h2 className="text-muted text-xs font-medium">{title}</h2>
    <div className="flex flex-wrap items-center gap-3">{children}</div>
  </section>
)

const categories = ["backlog", "unstarted", "started", "completed", "canceled"] as const

const progress = { backlog: 4, unstarted: 3, started: 2, completed: 11, canceled: 1 }

const Tickets = () => (
  <Part title="Marks of tickets and projects">
    {categories.map((category) => (
      <CategoryMark isNameShown key={category} status={{ name: category, category }} />
    ))}
    <TagBadge tag={{ name: "billing", color: "#c2410c" }} />
    {projectStatuses.map((status) => (
      <ProjectStatusMark key={status} status={status} />
    ))}
    <span className="w-24">
      <ProgressBar progress={progress} />
    </span>
    <span>{progressText(progress)}</span>
    <TargetDate day="2027-03-31" />
  </Part>
)

const text = `A **bold** word, \`code\`, a [link](https://example.com) and <b>no markup</b>.

- [x] done
- [ ] to do

| Name | Value |
| --- | --- |
| one | 1 |

> Said before.

\`\`\`ts
const one = 1
\`\`\``

const Texts = () => (
  <>
    <Part title="Markdown">
      <div className="w-full">
        <Markdown text={text} />
      </div>
    </Part>
    <Part title="What has changed">
      <p>
        <Changes
          changes={[
            { field: "version", from: "v1", to: "v2" },
            { field: "archivedAt", from: null, to: "2026-11-21T09:30:00.000Z" }
          ]}
        />
      </p>
      <div className="w-full">
        <WordDiff
          label="The description"
          parts={[
            { kind: "same", text: "Pay by " },
            { kind: "removed", text: "invoice" },
            { kind: "added", text: "card" }
          ]}
        />
      </div>
    </Part>
    <Part title="Tabs within a part">
      <Tabs
        label="Where it runs"
        tabs={[
          { name: "Docker", content: <p>In a container.</p> },
          { name: "Shell", content: <p>In a shell.</p> }
        ]}
      />
    </Part>
  </>
)

const days = ["2026-11-19", "2026-11-20", "2026-11-21"]
const lines: PlotProps = {
  title: "Passed",
  days,
  kind: "line",
  most: 1,
  format: formatRate,
  series: [
    { label: "In the end", tone: "success", values: [0.9, null, 0.97] },
    { label: "At the first attempt", tone: "info", values: [0.8, null, 0.92] }
  ]
}
const bars: PlotProps = {
  title: "Finished runs",
  days,
  kind: "bars",
  format: formatCount,
  series: [{ label: "A day", tone: "accent", values: [4, 0, 9] }]
}

const Numbers = () => (
  <>
    <div className="border-border grid grid-cols-1 gap-x-8 gap-y-6 border-b p-4 lg:grid-cols-2">
      <Plot {...lines} />
      <Plot {...bars} />
    </div>
    <PlotTable plots={[lines, bars]} />
  </>
)

export const Contents = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Tickets />
      <Texts />
      <Numbers />
      <Part title="A secret that is shown once">
        <Button onClick={() => setOpen(true)}>Make a key</Button>
        {isOpen && <ShownOnce onClose={() => setOpen(false)} secret="ctk_4fGh9aZk" title="The key “laptop”" />}
      </Part>
    </>
  )
}
