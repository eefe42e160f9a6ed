import { sep } from "node:path"

/** Whether a package manager has installed the command. Otherwise it is that of a checkout or an image. */
export const isInstalled: boolean = import.meta.dirname.includes(`${sep}node_modules${sep}`)
