import type { ProjectProgress } from "@delivery/domain/planning/Project"
import { counted } from "../ui/format.ts"

/** How far something has come, by its tickets. */

const parts = [
  ["completed", "bg-success"],
  ["started", "bg-warning"],
  ["unstarted", "bg-strong"],
  ["backlog", "bg-border"]
] as const

/** Those that will be done: what is canceled will not. */
export const progressText = ({ backlog, completed, started, unstarted }: ProjectProgress): string => {
  const all = backlog + completed + started + unstarted
  return all === 0 ? "no tickets" : `${completed} of ${counted(all, "ticket")}`
}

/** As a bar; the words stand beside it. */
export const ProgressBar = ({ progress }: { readonly progress: ProjectProgress }) => (
  <span aria-hidden="true" className="bg-hover flex h-1.5 w-full gap-px overflow-hidden rounded-full">
    {parts.map(([name, colour]) =>
      progress[name] === 0 ? null : (
        <span className={`${colour} min-w-0.75`} key={name} style={{ flexGrow: progress[name] }} />
      )
    )}
  </span>
)
