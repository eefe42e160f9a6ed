import type { FastifyInstance } from "fastify"
import * as Schemas from "./Schemas.ts"
import { authenticate, byName, member, type Named, query, withError, workspace } from "./Server.ts"
import * as Statements from "./Statements.ts"

interface ProjectRow {
  readonly teams: ReadonlyArray<Named>
  readonly products: ReadonlyArray<Named>
}

export const projects = async (app: FastifyInstance) => {
  app.get(
    `${workspace}/projects`,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.projects }) } },
    async (request) => {
      const { personId, role, workspaceId } = member(request)
      const rows = await query<ProjectRow>(Statements.projects, [
        workspaceId,
        role === "admin" || role === "owner",
        personId
      ])
      return {
        projects: rows.map((row) => ({
          ...row,
          teams: row.teams.toSorted(byName),
          products: row.products.toSorted(byName)
        }))
      }
    }
  )
}
