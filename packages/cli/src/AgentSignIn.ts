import { AgentClient, type AgentSignIn } from "@delivery/domain/agents/Agent"
import { timestamp, Timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, FileSystem, Option, Path, Schema, Semaphore } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { callFailure, Failure } from "./Failure.ts"
import { configDirectory, probeFile, replaceFile, underLock } from "./PrivateFiles.ts"

/** Names a sign-in of this computer. A client has one for each workspace of each server. */
export interface SignInName {
  readonly client: AgentClient
  readonly url: string
  readonly workspace: string
  /** Where sign-ins are kept. */
  readonly directory: string
}

/** A sign-in as this computer stores it, in a file that only its user can read. */
const StoredSignIn = Schema.Struct({
  url: Schema.String,
  workspace: Schema.String,
  client: AgentClient,
  agent: Schema.String,
  computer: Schema.String,
  clientId: Schema.String,
  accessToken: Schema.String,
  accessTokenExpiresAt: Timestamp,
  refreshToken: Schema.String
})
type StoredSignIn = typeof StoredSignIn.Type

const Stored = Schema.fromJsonString(StoredSignIn)

const Refreshed = Schema.Struct({
  access_token: Schema.String,
  expires_in: Schema.Int,
  refresh_token: Schema.String
})

/** An access token is refreshed when it expires in less than this, in milliseconds. */
const refreshMarginMillis = 60_000

/** Where sign-ins are kept by default: in `XDG_CONFIG_HOME`, else `~/.config`. */
export const defaultDirectory = Effect.gen(function* () {
  return (yield* Path.Path).join(yield* configDirectory, "agents")
})

const pathOf = Effect.fnUntraced(function* ({ client, directory, url, workspace }: SignInName) {
  const path = yield* Path.Path
  const name = `${client}@${workspace}@${url.replace(/^https?:\/\//, "")}`
  return path.join(directory, `${name.replaceAll(/[^A-Za-z0-9.@_-]/g, "_")}.json`)
})

const save = Effect.fnUntraced(
  function* (file: string, signIn: StoredSignIn) {
    yield* replaceFile(file, `${yield* Schema.encodeEffect(Stored)(signIn)}\n`)
  },
  Effect.mapError(cannotBe("written"))
)

const read = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeEffect(Stored)),
    Effect.mapError(() => Failure.notSignedIn("This computer is not signed in: run `delivery agent connect`."))
  )
})

/** Fails where the sign-in could not be stored: its agent would be registered, and nobody would have its tokens. */
export const probe = Effect.fnUntraced(function* (name: SignInName) {
  const file = yield* pathOf(name)
  yield* Effect.mapError(
    probeFile(file),
    () => new Failure({ message: `${file} cannot be written: nothing was done.` })
  )
})

/** Stores the sign-in that registering answered. Answers the path of its file. */
export const keep = Effect.fnUntraced(function* (name: SignInName, registered: AgentSignIn) {
  const file = yield* pathOf(name)
  const now = yield* Clock.currentTimeMillis
  yield* save(file, {
    ...name,
    agent: registered.agent,
    computer: registered.computer.name,
    clientId: registered.clientId,
    accessToken: registered.access_token,
    accessTokenExpiresAt: timestamp(now + registered.expires_in * 1_000),
    refreshToken: registered.refresh_token
  })
  return file
})

/** Ends a sign-in at the server and deletes its file. Answers whether there was one. */
export const forget = Effect.fnUntraced(function* (name: SignInName) {
  const [fs, http] = [yield* FileSystem.FileSystem, yield* HttpClient.HttpClient]
  const file = yield* pathOf(name)
  const signIn = yield* Effect.option(read(file))
  if (Option.isNone(signIn)) return false
  const { clientId, refreshToken, url } = signIn.value
  const { status } = yield* http
    .execute(
      HttpClientRequest.post(`${url}/agent/oauth/revoke`).pipe(
        HttpClientRequest.bodyUrlParams({ token: refreshToken, client_id: clientId })
      )
    )
    .pipe(Effect.mapError(callFailure({ url })))
  if (status !== 200) return yield* new Failure({ message: `${url} answered ${status}.` })
  yield* Effect.mapError(fs.remove(file), cannotBe("removed"))
  return true
})

/** The access tokens of a sign-in for one process. Several processes may share a sign-in. */
export interface AccessTokens {
  readonly url: string
  /** A token that is valid for a minute at least, and is not the one that the server refused. */
  readonly next: (refused?: string) => Effect.Effect<string, Failure>
}

/**
 * Refreshes under a lock of the sign-in's file, so that a refresh token is used once: a process that waited for the lock
 * finds the new pair in the file.
 */
export const makeAccessTokens = Effect.fnUntraced(function* (name: SignInName) {
  const services = yield* Effect.context<FileSystem.FileSystem | Path.Path | HttpClient.HttpClient>()
  const http = yield* HttpClient.HttpClient
  const file = yield* pathOf(name)
  const turn = yield* Semaphore.make(1)
  const { url } = yield* read(file)

  const usable = Effect.fnUntraced(function* (refused: string | undefined) {
    const signIn = yield* read(file)
    const deadline = timestamp((yield* Clock.currentTimeMillis) + refreshMarginMillis)
    return { signIn, isUsable: signIn.accessTokenExpiresAt > deadline && signIn.accessToken !== refused }
  })

  const refresh = Effect.fnUntraced(function* (signIn: StoredSignIn) {
    const response = yield* http
      .execute(
        HttpClientRequest.post(`${signIn.url}/agent/oauth/token`).pipe(
          HttpClientRequest.bodyUrlParams({
            grant_type: "refresh_token",
            client_id: signIn.clientId,
            refresh_token: signIn.refreshToken
          })
        )
      )
      .pipe(Effect.timeout("20 seconds"), Effect.mapError(callFailure({ url })))
    if (response.status === 400) {
      return yield* Failure.notSignedIn("The sign-in has ended: run `delivery agent connect` again.")
    }
    if (response.status === 401)
      return yield* Failure.notSignedIn("You are no longer an active member of the workspace.")
    const tokens = yield* response.json.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Refreshed)),
      Effect.mapError(
        () => new Failure({ message: `${url} answered ${response.status} when the access token was refreshed.` })
      )
    )
    const next = {
      ...signIn,
      accessToken: tokens.access_token,
      accessTokenExpiresAt: timestamp((yield* Clock.currentTimeMillis) + tokens.expires_in * 1_000),
      refreshToken: tokens.refresh_token
    }
    yield* save(file, next)
    return next.accessToken
  })

  const next = Effect.fnUntraced(function* (refused?: string) {
    const found = yield* usable(refused)
    if (found.isUsable) return found.signIn.accessToken
    return yield* underLock(
      file,
      cannotBe("locked"),
      Effect.gen(function* () {
        const { isUsable, signIn } = yield* usable(refused)
        return isUsable ? signIn.accessToken : yield* refresh(signIn)
      })
    )
  })
  return {
    url,
    // A refresh that is interrupted would lose the tokens that the server answered.
    next: (refused) => turn.withPermits(1)(Effect.uninterruptible(Effect.provideContext(next(refused), services)))
  } satisfies AccessTokens
})

function cannotBe(done: string) {
  return (cause: unknown) =>
    new Failure({
      message: `The sign-in's file cannot be ${done}: ${cause instanceof Error ? cause.message : String(cause)}`
    })
}
