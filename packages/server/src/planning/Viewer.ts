import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { isAtLeast } from "@delivery/domain/identity/Role"
import { type Access, personOf } from "../access/Access.ts"

/** Who asks, as far as it decides which teams they see (`Visibility.ts`). An agent sees what its person sees. */
export interface Viewer {
  readonly workspaceId: WorkspaceId
  readonly seesPrivateTeams: boolean
  /** Null for account API keys, which are members of no team. */
  readonly personId: PersonId | null
}

export const viewerOf = ({ principal, workspace }: Access): Viewer => ({
  workspaceId: workspace.id,
  seesPrivateTeams: isAtLeast(workspace.role, "admin"),
  personId: personOf(principal)?.id ?? null
})
