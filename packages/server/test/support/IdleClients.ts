import { connect } from "node:net"

/**
 * A process that opens connections to a port and sends nothing: IdleClients.ts PORT COUNT. Prints `open` once all are
 * open, and holds them until it is ended.
 */
const [port, count] = process.argv.slice(2).map(Number) as [number, number]

let begun = 0
let open = 0
const next = () => {
  if (begun++ >= count) return
  const socket = connect(port, "127.0.0.1", () => {
    open++
    if (open === count) process.stdout.write("open\n")
    next()
  })
  socket.on("error", (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
}
// Not all at once: the queue of what is not yet accepted has an end.
for (let i = 0; i < 100; i++) next()
