import { Email } from "@delivery/domain/Text"
import { Option, Redacted, Schema } from "effect"
import { isLoopback } from "./SettingValues.ts"

/** A mail server, and whom mails are from. */
export interface MailSettings {
  readonly host: string
  /** Absent: the usual one. */
  readonly port: number | undefined
  /** TLS from the first byte. Otherwise it begins where the server offers it. */
  readonly secure: boolean
  /** Whether nothing is sent unless TLS has begun. */
  readonly requireTls: boolean
  readonly ignoreTls: boolean
  /** Whether the certificate must be one that is trusted. */
  readonly checkCertificate: boolean
  readonly login: Option.Option<{ readonly user: string; readonly password: Redacted.Redacted }>
  readonly from: { readonly name: string; readonly address: string }
}

const flags = new Set(["requireTLS", "ignoreTLS", "tls.rejectUnauthorized"])

/** The setting `SMTP_URL`; undefined where it is no URL of a mail server, or has options that are not known. */
export const mailServer = (text: string): Omit<MailSettings, "from"> | undefined => {
  if (/\s/.test(text) || !URL.canParse(text)) return undefined
  const { hash, hostname, password, pathname, port, protocol, searchParams, username } = new URL(text)
  const isKnown = [...searchParams].every(([name, value]) => flags.has(name) && /^(true|false)$/.test(value))
  const isWhole = /^smtps?:$/.test(protocol) && hostname !== "" && /^\/?$/.test(pathname) && hash === ""
  const login = decodedLogin(username, password)
  if (!isKnown || !isWhole || login === undefined) return undefined
  const flag = (name: string, otherwise: boolean) => (searchParams.get(name) ?? String(otherwise)) === "true"
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? undefined : Number(port),
    secure: protocol === "smtps:",
    // A password goes through a network only by TLS, unless the operator says otherwise.
    requireTls: flag("requireTLS", Option.isSome(login) && !isLoopback(hostname)),
    ignoreTls: flag("ignoreTLS", false),
    checkCertificate: flag("tls.rejectUnauthorized", !isLoopback(hostname)),
    login
  }
}

/** Undefined where the escapes of a URL are wrong. */
const decodedLogin = (user: string, password: string): MailSettings["login"] | undefined => {
  if (user === "" && password === "") return Option.none()
  try {
    return Option.some({
      user: decodeURIComponent(user),
      password: Redacted.make(decodeURIComponent(password))
    })
  } catch {
    return undefined
  }
}

const decodeEmail = Schema.decodeUnknownOption(Email)

/** The setting `MAIL_FROM`: an address, or a name and an address between angle brackets. */
export const mailFrom = (text: string): MailSettings["from"] | undefined => {
  const match = /^(?:"?([^"<>\p{Cc}]*?)"? *<([^<>,;:]+)>|([^<>",;:]+))$/u.exec(text.trim())
  const address = decodeEmail(match?.[2] ?? match?.[3] ?? "")
  return Option.isNone(address) ? undefined : { name: match?.[1]?.trim() ?? "", address: address.value }
}
