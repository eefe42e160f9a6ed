import { Releases } from "./Releases.ts"
import * as ReleasesHttp from "./ReleasesHttp.ts"
import * as ReleasesMemory from "./ReleasesMemory.ts"
import * as ReleasesSql from "./ReleasesSql.ts"

/** What ran where and when, and what became of tickets. The changes that it tells of are the catalog's, with their tables. */

export const layerSql = ReleasesSql.layer

export const layerMemory = ReleasesMemory.layer

export const layer = Releases.layer

export const layerHttp = ReleasesHttp.layer
