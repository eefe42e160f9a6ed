import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { Settings } from "../Config.ts"
import * as Database from "../database/Database.ts"
import * as Logs from "../http/Logs.ts"

/** The database and settings of the environment, for commands that run on the host, with or without a running server. */
export const layer = Layer.mergeAll(Database.layer, NodeServices.layer).pipe(
  Layer.provideMerge(NodeServices.layer),
  Layer.provideMerge(Logs.layer),
  Layer.provideMerge(Layer.suspend(() => Settings.layer(process.env)))
)
