import { Site } from "./Site.ts"
import * as SiteHttp from "./SiteHttp.ts"

/** The website, which `packages/website` is the source of: its build, and its pages and files. */

export const layer = Site.layer

export const layerHttp = SiteHttp.layer
