import { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { StartTestRun } from "@delivery/domain/runs/TestRun"
import { Result, Schema } from "effect"
import { Refused } from "./Xml.ts"

/**
 * What a reporter saves when it cannot publish a run. With the number of a run, that run has been started, by the reporter or by
 * an earlier `runs publish`: publishing goes on with it, and changes nothing where it is done.
 */

// The URL is missing where the deployment could not be read.
const Start = Schema.Struct({ ...StartTestRun.fields, baseUrl: Schema.optionalKey(StartTestRun.fields.baseUrl) })

const SavedFile = Schema.Struct({ path: Schema.String, contentType: Schema.String, source: Schema.String })

/** Where the results were to go, and their files, beside them. The `url` is that of the run. Those of before 1.0 have none of these. */
const about = {
  service: Schema.optionalKey(Schema.String),
  workspace: Schema.optionalKey(Schema.String),
  files: Schema.optionalKey(Schema.Array(SavedFile))
}

const Saved = Schema.Union([
  Schema.Struct({
    ...about,
    run: Schema.Int,
    url: Schema.optionalKey(Schema.String),
    /** The run has ended without some of the files. */
    lacksFiles: Schema.optionalKey(Schema.Boolean),
    start: Schema.optionalKey(Start),
    finish: FinishTestRun
  }),
  Schema.Struct({ ...about, start: Start, finish: FinishTestRun })
])
export type Saved = typeof Saved.Type

const decode = Schema.decodeUnknownResult(Saved)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The saved results of a text; undefined for another text. Throws `Refused` for saved results that are damaged. */
export const readSaved = (text: string): Saved | undefined => {
  const value = parsed(text)
  if (typeof value !== "object" || value === null || !("finish" in value)) return undefined
  const saved = decode(value)
  if (Result.isFailure(saved)) throw new Refused("it is not what the reporter saves, or of another version.")
  return saved.success
}
