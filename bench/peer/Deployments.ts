import type { FastifyInstance } from "fastify"
import * as Schemas from "./Schemas.ts"
import {
  authenticate,
  byName,
  conflict,
  member,
  notFound,
  query,
  uuid,
  withError,
  workspace,
  writer
} from "./Server.ts"
import * as Statements from "./Statements.ts"

export interface DeploymentRow {
  readonly id: string | null
  readonly productId: string
  readonly productSlug: string
  readonly productName: string
  readonly productType: string
  readonly productArchivedAt: Date | null
  readonly environmentId: string
  readonly environmentSlug: string
  readonly environmentName: string
  readonly environmentClass: string
  readonly environmentEmoji: string | null
  readonly environmentArchivedAt: Date | null
  readonly baseUrl: string | null
  readonly fixtureUrl: string | null
  readonly version: string | null
  readonly versionUpdatedAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
}
const presentDeployment = (row: DeploymentRow) => ({
  id: row.id!,
  product: {
    id: row.productId,
    slug: row.productSlug,
    name: row.productName,
    type: row.productType,
    archived: row.productArchivedAt !== null
  },
  environment: {
    id: row.environmentId,
    slug: row.environmentSlug,
    name: row.environmentName,
    class: row.environmentClass,
    emoji: row.environmentEmoji,
    archived: row.environmentArchivedAt !== null
  },
  baseUrl: row.baseUrl,
  fixtureUrl: row.fixtureUrl,
  version: row.version,
  versionUpdatedAt: row.versionUpdatedAt,
  active: row.productArchivedAt === null && row.environmentArchivedAt === null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt
})
export const refuseArchived = (row: DeploymentRow) => {
  if (row.productArchivedAt !== null) throw conflict("archived", "The product is archived.")
  if (row.environmentArchivedAt !== null) throw conflict("archived", "The environment is archived.")
}

const pair = `${workspace}/deployments/:product/:environment`

export const deployments = async (app: FastifyInstance) => {
  app.get(
    pair,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.deployment }) } },
    async (request) => {
      const { environment, product } = request.params as Record<"product" | "environment", string>
      const [row] = await query<DeploymentRow>(Statements.deployment, [
        member(request).workspaceId,
        product,
        environment
      ])
      if (row === undefined || row.id === null) throw notFound("deployment")
      return presentDeployment(row)
    }
  )

  app.get(
    `${workspace}/deployments`,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.deployments }) } },
    async (request) => {
      const rows = await query<DeploymentRow>(Statements.deployments, [member(request).workspaceId])
      return {
        deployments: rows
          .map(presentDeployment)
          .filter(({ active }) => active)
          .toSorted((a, b) => byName(a.product, b.product) || byName(a.environment, b.environment))
      }
    }
  )

  app.patch(
    pair,
    {
      onRequest: authenticate,
      schema: { body: Schemas.changeVersion, response: withError({ 200: Schemas.deployment }) }
    },
    async (request) => {
      const { environment, product } = request.params as Record<"product" | "environment", string>
      const { version } = request.body as { version?: string | null }
      const caller = writer(request)
      for (;;) {
        const [row] = await query<DeploymentRow>(Statements.deployment, [caller.workspaceId, product, environment])
        if (row === undefined || row.id === null) throw notFound("deployment")
        refuseArchived(row)
        if (version === undefined || version === row.version) return presentDeployment(row)
        const now = new Date(Math.max(Date.now(), row.updatedAt.getTime() + 1))
        const changed = await query(Statements.changeVersion, [
          row.id,
          version,
          now,
          row.updatedAt,
          uuid(),
          caller.workspaceId,
          caller.personId,
          `${row.productName} in ${row.environmentName}`,
          `deployments/${row.productSlug}/${row.environmentSlug}`,
          JSON.stringify([{ field: "version", from: row.version, to: version }])
        ])
        if (changed.length === 1) return presentDeployment({ ...row, version, versionUpdatedAt: now, updatedAt: now })
      }
    }
  )
}
