import type { Context } from "effect"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"

/** The summary and description of an operation in the API description. */
export const doc = (summary: string, description: string): Context.Context<never> =>
  OpenApi.annotations({ summary, description })

/**
 * A slug, id or name in a path. Any text, since what nothing has is not found, after the form of the rest was checked
 * (contract, section 1, order of checks).
 */
export const PathRef = Schema.String

/** `{slug}`: the workspace of a path, by slug or id. */
export const WorkspaceRef = PathRef.annotate({ description: "The workspace's slug or id.", examples: ["main"] })

/** `archived`: whether a list holds archived objects. */
export const Archived = Schema.Literals(["exclude", "include", "only"]).annotate({
  description: "Whether archived objects are left out (the default), included, or the only ones."
})
export type Archived = typeof Archived.Type

/** The prefix of every path of a workspace. */
export const workspacePath = "/v1/workspaces/:slug"
