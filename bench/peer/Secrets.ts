import type { FastifyInstance } from "fastify"
import { createDecipheriv } from "node:crypto"
import * as Schemas from "./Schemas.ts"
import { authenticate, byName, member, type Named, notFound, query, uuid, withError, workspace } from "./Server.ts"
import * as Statements from "./Statements.ts"

const vaultKeys = new Map(
  (process.env["VAULT_KEYS"] ?? "").split(",").map((key) => {
    const [id = "", bytes = ""] = key.split(":")
    return [id, Buffer.from(bytes, "base64")]
  })
)
const open = (key: Uint8Array, authenticated: string, sealed: Buffer): Buffer => {
  const decrypt = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12), { authTagLength: 16 })
  decrypt.setAAD(Buffer.from(authenticated))
  decrypt.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decrypt.update(sealed.subarray(12, -16)), decrypt.final()])
}
const dataKeys = new Map<string, { readonly id: string; readonly bytes: Buffer }>()
const dataKey = async (workspaceId: string) => {
  const known = dataKeys.get(workspaceId)
  if (known !== undefined) return known
  const [row] = await query<{ id: string; sealed: string }>(Statements.dataKey, [workspaceId])
  const [format, keyId = "", sealed = ""] = row!.sealed.split(":")
  const purpose = `${format}:${keyId}:data-key:${row!.id}:${workspaceId}`
  const key = { id: row!.id, bytes: open(vaultKeys.get(keyId)!, purpose, Buffer.from(sealed, "base64url")) }
  dataKeys.set(workspaceId, key)
  return key
}

interface SecretRow extends Named {
  readonly secretId: string
  readonly secretName: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly productId: string
  readonly productSlug: string
  readonly productName: string
  readonly slug: string
  readonly class: string
  readonly emoji: string | null
  readonly archivedAt: Date | null
  readonly version: number | null
  readonly deployed: boolean
  readonly at: Date | null
  readonly hasValue: boolean
  readonly readable: boolean
  readonly sealed: Buffer | null
  readonly actorKind: string | null
  readonly actorId: string | null
  readonly actorName: string | null
  readonly actorEmail: string | null
}

export const secrets = async (app: FastifyInstance) => {
  app.get(
    `${workspace}/products/:product/secrets/:name`,
    { onRequest: authenticate, schema: { response: withError({ 200: Schemas.secret }) } },
    async (request, reply) => {
      const { name, product } = request.params as Record<"product" | "name", string>
      const { personId, role, workspaceId } = member(request)
      const rows = await query<SecretRow>(Statements.secret, [
        workspaceId,
        product,
        name,
        role !== "viewer",
        uuid(),
        personId,
        request.id,
        JSON.stringify({ kind: "user", id: personId })
      ])
      const [first] = rows
      if (first === undefined) throw notFound("secret")
      const key = await dataKey(workspaceId)
      const environments = rows.toSorted(byName).map((row) => ({
        environment: {
          id: row.id,
          slug: row.slug,
          name: row.name,
          class: row.class,
          emoji: row.emoji,
          archived: row.archivedAt !== null
        },
        version: row.version ?? 0,
        hasValue: row.hasValue,
        deployed: row.deployed,
        updatedAt: row.at,
        updatedBy:
          row.actorKind === null
            ? null
            : row.actorName === null
              ? { kind: "removed" }
              : { kind: row.actorKind, id: row.actorId, name: row.actorName, email: row.actorEmail ?? undefined },
        value:
          row.sealed === null
            ? null
            : open(
                key.bytes,
                `vault:1:${key.id}:${workspaceId}:${row.secretId}:${row.id}:${row.version}`,
                row.sealed.subarray(17)
              ).toString("utf8"),
        valueHidden: !row.readable
      }))
      reply.header("cache-control", "no-store")
      return {
        id: first.secretId,
        name: first.secretName,
        product: { id: first.productId, slug: first.productSlug, name: first.productName },
        environments,
        createdAt: first.createdAt,
        updatedAt: first.updatedAt
      }
    }
  )
}
