import { readFileSync } from "node:fs"

/**
 * For `node --import`: the clock of the process is behind by the milliseconds that the file `DEMO_CLOCK` says, and right again
 * when the file is gone. So a server gets weeks of history within seconds.
 */
const file = process.env["DEMO_CLOCK"]
const RealDate = Date

const millisBehind = (): number => {
  try {
    return file === undefined ? 0 : Number(readFileSync(file, "utf8"))
  } catch {
    return 0
  }
}

const now = (): number => RealDate.now() - millisBehind()

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === globalThis.Date ? target : newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver))
})
