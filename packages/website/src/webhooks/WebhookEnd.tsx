import { useQuery } from "@tanstack/react-query"
import { mayAct, useRole } from "../api/session.ts"
import { webhooksQuery } from "./queries.ts"
import { addressOf } from "./words.ts"

interface Props {
  readonly slug: string
  readonly id: string
  /** Its host, which stands before this. */
  readonly label: string
}

/** What tells a webhook apart from others of its host, where it is still there and still has it. Admins alone may know. */
const WebhookEnd = ({ id, label, slug }: Props) => {
  const { data } = useQuery({ ...webhooksQuery(slug), enabled: mayAct(useRole(slug), "admin") })
  const webhooks = data?.webhooks ?? []
  const url = webhooks.find((one) => one.id === id)?.url
  if (url === undefined) return null
  const address = addressOf(
    url,
    webhooks.map((one) => one.url)
  )
  return address.startsWith(`${label} `) ? <> {address.slice(label.length + 1)}</> : null
}

export default WebhookEnd
