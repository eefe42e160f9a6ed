import type { Webhook, WebhookFormat, WebhookWithSecret } from "@delivery/domain/webhooks/Webhook"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { teamsQuery } from "../planning/queries.ts"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { ShownOnce } from "../ui/ShownOnce.tsx"
import { Kinds } from "./Kinds.tsx"

const formats = [
  { value: "standard", label: "Standard Webhooks", hint: "signed, with the event" },
  { value: "slack", label: "Slack", hint: "a line of text" }
] as const

interface Props {
  readonly slug: string
  /** The webhook that is changed; without one it is made. */
  readonly webhook?: Webhook
  readonly onClose: () => void
}

interface Filled {
  readonly format: WebhookFormat
  readonly kinds: ReadonlyArray<string> | null
  /** The key of a team; empty for none. */
  readonly team: string
  readonly url: string
}

/** Makes the webhook, or changes it. */
const useSave = ({ onClose, slug, webhook }: Props) =>
  useAction({
    act: ({ team, url, ...payload }: Filled): Promise<Webhook | WebhookWithSecret> =>
      webhook === undefined
        ? client.webhooks.create({ params: { slug }, payload: { ...payload, url, ...(team === "" ? {} : { team }) } })
        : client.webhooks.update({
            params: { slug, webhook: webhook.id },
            // Another address makes the webhook theirs who gave it.
            payload: { ...payload, ...(url === webhook.url ? {} : { url }) }
          }),
    changes: [workspaceKey(slug, "webhooks")],
    onDone: (made) => "secret" in made || onClose()
  })

const Secret = ({
  format,
  onClose,
  secret
}: Pick<Filled, "format"> & Pick<Props, "onClose"> & { readonly secret: string }) => (
  <ShownOnce onClose={onClose} secret={secret} title="The secret of your webhook">
    <p className="text-muted">
      {format === "slack"
        ? "Slack does not look at it. Keep it if something else than Slack receives the events."
        : "With it the receiver checks that an event comes from here: any library for Standard Webhooks does that."}
    </p>
  </ShownOnce>
)

/** What a webhook is sent, and where. A new one shows its secret, once. */
const WebhookForm = (props: Props) => {
  const { onClose, slug, webhook } = props
  const [url, setUrl] = useState(webhook?.url ?? "")
  const [format, setFormat] = useState<WebhookFormat>(webhook?.format ?? "standard")
  const [kinds, setKinds] = useState<ReadonlyArray<string>>(webhook?.kinds ?? [])
  const [team, setTeam] = useState("")
  const { data: teams } = useQuery(teamsQuery(slug))
  const save = useSave(props)
  const doing = { ...save, mutate: () => save.mutate({ format, kinds: kinds.length === 0 ? null : kinds, team, url }) }
  if (save.data !== undefined && "secret" in save.data) {
    return <Secret format={format} onClose={onClose} secret={save.data.secret} />
  }
  return (
    <FormDialog
      action={webhook === undefined ? "Create webhook" : "Save"}
      description={webhook === undefined ? "It is sent what happens from now on." : undefined}
      doing={doing}
      fields={["url", "kinds"]}
      isReady={url !== ""}
      onClose={onClose}
      title={webhook === undefined ? "New webhook" : "Change the webhook"}
    >
      <Input
        autoComplete="off"
        autoFocus
        hint={webhook === undefined ? undefined : "Who gives another address is from then on who made it."}
        isMono
        issue={issueAt(save.error, "url")}
        label="Address"
        onChange={(event) => setUrl(event.target.value)}
        placeholder="https://hooks.example.com/delivery"
        spellCheck={false}
        type="url"
        value={url}
      />
      <Select label="Format" onChange={setFormat} options={formats} value={format} />
      {webhook === undefined && (teams?.teams.length ?? 0) > 0 && (
        <Select
          label="Of the team"
          onChange={setTeam}
          options={[
            { value: "", label: "None: what everybody sees" },
            ...(teams?.teams ?? []).map(({ key, name }) => ({ value: key as string, label: name }))
          ]}
          value={team}
        />
      )}
      <Kinds chosen={kinds} issue={issueAt(save.error, "kinds")} onChange={setKinds} />
    </FormDialog>
  )
}

export default WebhookForm
