import { NodeServices } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:net"
import { layerHttp, layerMemoryStorage, layerServices } from "./App.ts"
import { Settings } from "./Config.ts"
import { Keyring } from "./crypto/Keyring.ts"
import { FileStore } from "./files/FileStore.ts"
import { makeToken } from "./crypto/Tokens.ts"

