import type { ProjectStatus } from "@delivery/domain/planning/Project"
import { Badge, type Tone } from "../ui/Badge.tsx"

const tones: Readonly<Record<ProjectStatus, Tone>> = {
  planned: "plain",
  active: "info",
  paused: "warning",
  completed: "success",
  canceled: "plain"
}

export const projectStatuses = [
  "planned",
  "active",
  "paused",
  "completed",
  "canceled"
] as const satisfies ReadonlyArray<ProjectStatus>

export const ProjectStatusMark = ({ status }: { readonly status: ProjectStatus }) => (
  <Badge tone={tones[status]}>{status}</Badge>
)
