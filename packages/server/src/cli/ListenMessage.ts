/** Why a server cannot listen, for the one who has set HOST and PORT. */
export const listenMessage = (cause: unknown): string => {
  const { address, code, hostname, port } = cause as NodeJS.ErrnoException & Readonly<Record<string, unknown>>
  if (code === "ENOTFOUND") return `HOST: this machine has no address with the name ${hostname}.`
  if (code === "EADDRINUSE")
    return `PORT: another process already listens on ${address}:${port}. Stop it, or set another PORT.`
  if (code === "EACCES")
    return `PORT: this user is not allowed to listen on ${address}:${port}. Set a PORT of 1024 or above.`
  if (code === "EADDRNOTAVAIL")
    return `HOST: this machine does not have the address ${address}. Set HOST to one that it has, or to 0.0.0.0 for all.`
  return `HOST, PORT: the server cannot listen on ${address}:${port} (${code}).`
}
