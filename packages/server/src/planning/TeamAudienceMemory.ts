import { Effect, Layer } from "effect"
import type { Access } from "../access/Access.ts"
import { EventAudience } from "../events/EventAudience.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { teams } from "./TeamsRepo.ts"
import { viewerOf } from "./Viewer.ts"
import { seesTeamInMemory } from "./Visibility.ts"

/** Implements `EventAudience`: which teams a caller sees. */
export const layer = Layer.effect(
  EventAudience,
  Effect.map(MemoryStorage, (memory) => EventAudience.of({ teamsSeenBy: teamsSeenBy(memory) }))
)

const teamsSeenBy = (memory: MemoryStorage["Service"]) => (access: Access) => {
  const viewer = viewerOf(access)
  if (viewer.seesPrivateTeams) return Effect.succeed("all" as const)
  return memory.read((database) =>
    database
      .table(teams)
      .filter((team) => seesTeamInMemory(database, viewer, team))
      .map(({ id }) => id)
  )
}
