import type { ProjectSummary } from "@delivery/domain/planning/Project"
import { useQueryClient } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { tellFailure } from "../api/failures.ts"
import { oneByOne } from "../api/oneByOne.ts"
import { makeOptimistic, readAnew } from "../api/optimistic.ts"
import { workspaceKey } from "../api/queries.ts"
import { orderConflicts } from "./orderConflicts.ts"
import { toast } from "../ui/toast.ts"

/** The order of projects, which people change by moving one. */

type Projects = ReadonlyArray<ProjectSummary>

interface Move {
  readonly id: string
  /** The project that it goes before or after. */
  readonly other: string
  readonly isAfter: boolean
}

const moves = makeOptimistic<Move>()

const withMove = (projects: Projects, { id, isAfter, other }: Move): Projects => {
  const at = projects.findIndex((one) => one.id === id)
  if (at < 0) return projects
  const rest = projects.toSpliced(at, 1)
  const anchor = rest.findIndex((one) => one.id === other)
  return anchor < 0 ? projects : rest.toSpliced(isAfter ? anchor + 1 : anchor, 0, projects[at]!)
}

/** The projects in their order, and what moves one of them to the place of another: back where the server refuses. */
export const useProjectOrder = (slug: string, read: Projects) => {
  const queries = useQueryClient()
  const projects = moves.usePending().reduce(withMove, read)
  const move = async (order: Projects, from: number, to: number, hasUndo = true): Promise<boolean> => {
    const project = order[from]
    const other = order[to]
    if (project === undefined || other === undefined || from === to) return false
    const isAfter = from < to
    const send = () =>
      client.projects.reorder({
        params: { slug, project: project.slug },
        payload: isAfter ? { after: other.slug } : { before: other.slug }
      })
    const failed = `${project.name} stays where it was`
    const asked = { id: project.id, other: other.id, isAfter }
    try {
      await moves.run(
        [asked],
        () => oneByOne(project.id, send),
        () => readAnew(queries, [workspaceKey(slug, "projects")])
      )
    } catch (error) {
      // The next on its way there, where it is not the project itself.
      const at = isAfter ? to - 1 : to + 1
      const rest = order.toSpliced(to, 1)
      const instead =
        at === from
          ? undefined
          : { other: order[at]!, run: () => void move(rest, rest.indexOf(project), rest.indexOf(order[at]!)) }
      if (orderConflicts.tell?.(error, { kind: "project", moved: project, other, isAfter, instead }) !== true) {
        tellFailure(failed, error)
      }
      return false
    }
    toast({ title: failed, isMended: true })
    if (hasUndo) {
      const undo = async () =>
        (await move(withMove(order, asked), to, from, false)) ? `${project.name} is where it was` : undefined
      toast({ title: `${project.name} was moved`, undo })
    }
    return true
  }
  return { projects, move: (from: number, to: number) => void move(projects, from, to) }
}
