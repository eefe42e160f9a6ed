import type { Membership, Principal } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { column, uuids } from "../storage/Columns.ts"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { date, dateOrNull, dieOnSqlError, iso, isoOrNull } from "../storage/Sql.ts"
import { lookUp } from "./Credentials.ts"
import type { MemberRow } from "./MembersRepo.ts"
import type { PersonRow } from "./PersonsRepo.ts"
import type { WorkspaceRow } from "./WorkspacesRepo.ts"

/** Whose key it is: a person's, or a workspace's account key with its own role. */
export type KeyOwner =
  | { readonly personId: PersonId; readonly workspaceId: null; readonly role: null }
  | { readonly personId: null; readonly workspaceId: WorkspaceId; readonly role: "viewer" | "member" | "admin" }

export type ApiKeyRow = KeyOwner & {
  readonly id: ApiKeyId
  readonly name: string
  readonly tokenHash: string
  readonly tokenPrefix: string
  readonly lastFour: string
  readonly createdAt: Timestamp
  readonly lastUsedAt: Timestamp | null
  readonly revokedAt: Timestamp | null
}

/** What one look-up tells of a token: whose key it is, and the membership in the workspace asked for. */
export interface Authenticated {
  readonly keyId: ApiKeyId
  readonly principal: Principal
  readonly membership: Membership | undefined
}

/** Stores API keys of persons and workspaces, and authenticates by the hash of a token. */
export class ApiKeysRepo extends Context.Service<
  ApiKeysRepo,
  {
    readonly insert: (key: ApiKeyRow) => Effect.Effect<void>
    /** Keys not revoked, newest first. */
    readonly ofPerson: (personId: PersonId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Keys not revoked, newest first. */
    readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<ApiKeyRow>>
    /** Revokes the owner's key and returns it; undefined when there is none such, or it is revoked already. */
    readonly revoke: (
      id: ApiKeyId,
      owner: { readonly personId: PersonId } | { readonly workspaceId: WorkspaceId },
      at: Timestamp
    ) => Effect.Effect<ApiKeyRow | undefined>
    /**
     * In one look-up, shared with requests of the same moment: the key that is not revoked, and the active membership
     * in the workspace (slug or id). Without a workspace, an account key's own.
     */
    readonly authenticate: (
      tokenHash: string,
      workspace: string | undefined
    ) => Effect.Effect<Authenticated | undefined>
    /** Moves `lastUsedAt` forward, never back. */
    readonly touch: (uses: ReadonlyMap<ApiKeyId, Timestamp>) => Effect.Effect<void>
  }
>()("@delivery/server/identity/ApiKeysRepo") {
  static readonly layerSql = Layer.effect(
    ApiKeysRepo,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const columns = sql.literal(`id, person_id as "personId", workspace_id as "workspaceId", role, name,
        token_hash as "tokenHash", token_prefix as "tokenPrefix", last_four as "lastFour", created_at as "createdAt",
        last_used_at as "lastUsedAt", revoked_at as "revokedAt"`)

      const authenticate = lookUp(
        sql,
        (asked) =>
          sql<AuthenticatedRow>`select asked.place::int as place, k.id as "keyId", k.name as "keyName",
            p.id as "personId", p.name as "personName", p.email, w.id as "workspaceId", w.slug,
            w.name as "workspaceName",
            case when k.person_id is not null then m.role when k.workspace_id = w.id then k.role end as role
          from ${asked}
          join api_keys k on k.token_hash = asked.token_hash and k.revoked_at is null
          left join persons p on p.id = k.person_id
          left join workspaces w on w.id = coalesce((select id from workspaces where slug = asked.slug), asked.id,
            case when asked.slug is null then k.workspace_id end)
          left join members m on m.workspace_id = w.id and m.person_id = k.person_id and m.active`,
        readAuthenticated
      )

      return ApiKeysRepo.of({
        insert: (key) =>
          dieOnSqlError(
            Effect.asVoid(sql`insert into api_keys (id, person_id, workspace_id, role, name, token_hash,
              token_prefix, last_four, created_at, last_used_at, revoked_at)
            values (${key.id}, ${key.personId}, ${key.workspaceId}, ${key.role}, ${key.name}, ${key.tokenHash},
              ${key.tokenPrefix}, ${key.lastFour}, ${date(key.createdAt)}, ${dateOrNull(key.lastUsedAt)},
              ${dateOrNull(key.revokedAt)})`)
          ),
        ofPerson: (personId) =>
          sql<SqlRow>`select ${columns} from api_keys where person_id = ${personId} and revoked_at is null
            order by created_at desc, id desc`.pipe(Effect.map(readAll), dieOnSqlError),
        ofWorkspace: (workspaceId) =>
          sql<SqlRow>`select ${columns} from api_keys where workspace_id = ${workspaceId} and revoked_at is null
            order by created_at desc, id desc`.pipe(Effect.map(readAll), dieOnSqlError),
        revoke: (id, owner, at) =>
          sql<SqlRow>`update api_keys set revoked_at = ${date(at)}
            where id = ${id} and revoked_at is null
              and ${"personId" in owner ? sql`person_id = ${owner.personId}` : sql`workspace_id = ${owner.workspaceId}`}
            returning ${columns}`.pipe(
            Effect.map((rows) => readAll(rows)[0]),
            dieOnSqlError
          ),
        authenticate: (tokenHash, workspace) => authenticate({ tokenHash, workspace }),
        touch: (uses) => {
          const ids = uuids([...uses.keys()])
          const times = column([...uses.values()], PgTypes.OID.timestamptz, date)
          return dieOnSqlError(
            Effect.asVoid(sql`update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
              from unnest(${ids}::uuid[], ${times}::timestamptz[]) as u (id, at) where k.id = u.id`)
          )
        }
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    ApiKeysRepo,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const active = (where: (key: ApiKeyRow) => boolean) =>
        memory.read((database) =>
          database
            .table<ApiKeyRow>("api_keys")
            .filter((key) => key.revokedAt === null && where(key))
            .toSorted((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
        )

      return ApiKeysRepo.of({
        insert: (key) =>
          memory.write((database) => Effect.sync(() => database.table<ApiKeyRow>("api_keys").set(key.id, key))),
        ofPerson: (personId) => active((key) => key.personId === personId),
        ofWorkspace: (workspaceId) => active((key) => key.workspaceId === workspaceId),
        revoke: (id, owner, at) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<ApiKeyRow>("api_keys")
              const key = keys.get(id)
              const isOwners =
                "personId" in owner ? key?.personId === owner.personId : key?.workspaceId === owner.workspaceId
              if (key === undefined || key.revokedAt !== null || !isOwners) return undefined
              const revoked = { ...key, revokedAt: at }
              keys.set(id, revoked)
              return revoked
            })
          ),
        authenticate: (tokenHash, workspaceRef) =>
          memory.read((database) => {
            const key = database
              .table<ApiKeyRow>("api_keys")
              .find((key) => key.tokenHash === tokenHash && key.revokedAt === null)
            if (key === undefined) return undefined
            const workspace = database
              .table<WorkspaceRow>("workspaces")
              .find((row) => row.id === (workspaceRef ?? key.workspaceId) || row.slug === workspaceRef)
            const membership = (role: Role | null | undefined): Membership | undefined =>
              workspace === undefined || role == null
                ? undefined
                : { id: workspace.id, slug: workspace.slug, name: workspace.name, role }
            if (key.personId === null) {
              return {
                keyId: key.id,
                principal: { kind: "apiKey", id: key.id, name: key.name },
                membership: membership(key.workspaceId === workspace?.id ? key.role : null)
              }
            }
            const person = database.table<PersonRow>("persons").get(key.personId)!
            const member = database.table<MemberRow>("members").get(`${workspace?.id}/${person.id}`)
            return {
              keyId: key.id,
              principal: { kind: "user", id: person.id, name: person.name, email: person.email },
              membership: membership(member?.active === true ? member.role : null)
            }
          }),
        touch: (uses) =>
          memory.write((database) =>
            Effect.sync(() => {
              const keys = database.table<ApiKeyRow>("api_keys")
              for (const [id, at] of uses) {
                const key = keys.get(id)
                if (key !== undefined && (key.lastUsedAt === null || key.lastUsedAt < at)) {
                  keys.set(id, { ...key, lastUsedAt: at })
                }
              }
            })
          )
      })
    })
  )
}

type SqlRow = KeyOwner & {
  readonly id: ApiKeyId
  readonly name: string
  readonly tokenHash: string
  readonly tokenPrefix: string
  readonly lastFour: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

const readAll = (rows: ReadonlyArray<SqlRow>): ReadonlyArray<ApiKeyRow> =>
  rows.map((row) => ({
    ...row,
    createdAt: iso(row.createdAt),
    lastUsedAt: isoOrNull(row.lastUsedAt),
    revokedAt: isoOrNull(row.revokedAt)
  }))

interface AuthenticatedRow {
  /** Of the credential among those asked for, from 1. */
  readonly place: number
  readonly keyId: ApiKeyId
  readonly keyName: string
  readonly personId: PersonId | null
  readonly personName: string
  readonly email: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly workspaceName: string
  readonly role: Role | null
}

const readAuthenticated = (row: AuthenticatedRow): Authenticated => ({
  keyId: row.keyId,
  principal:
    row.personId === null
      ? { kind: "apiKey", id: row.keyId, name: row.keyName }
      : { kind: "user", id: row.personId, name: row.personName, email: row.email },
  membership:
    row.role === null ? undefined : { id: row.workspaceId, slug: row.slug, name: row.workspaceName, role: row.role }
})
