import type { EventId, WorkspaceId } from "@delivery/domain/Ids"
import type { ActorRef } from "../../src/access/Access.ts"
import type { StoredEvent } from "../../src/events/EventsRepo.ts"
import { minute, newId } from "../identity/Scene.ts"

export const storedEvent = (
  workspaceId: WorkspaceId,
  actor: ActorRef,
  fields: Partial<StoredEvent> = {}
): StoredEvent => ({
  id: newId<EventId>(),
  workspaceId,
  kind: "product_updated",
  actor,
  subjectType: "product",
  subjectId: newId(),
  subjectLabel: "Shop",
  subjectPath: "products/shop",
  changes: [],
  teamIds: null,
  createdAt: minute(1),
  ...fields
})
