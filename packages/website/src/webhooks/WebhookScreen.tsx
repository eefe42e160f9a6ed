import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import type { Webhook } from "@delivery/domain/webhooks/Webhook"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { ForAdmins } from "../api/ForAdmins.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { Facts } from "../ui/Facts.tsx"
import { Copyable } from "../ui/Copy.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { Time } from "../ui/Time.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { webhookQuery } from "./queries.ts"
import { WebhookState } from "./WebhookState.tsx"
import { areNamed, attemptText, hostOf, kindsText, kindText } from "./words.ts"

/** A webhook: where it sends what, whether that arrives, and what can be done with it. */

const WebhookForm = later(() => import("./WebhookForm.tsx"))
const SureDialog = later(() => import("../api/SureDialog.tsx"))
const RotateSecret = later(() => import("./RotateSecret.tsx"))

interface Props {
  readonly webhook: Webhook
  readonly slug: string
}

const useWebhookActions = ({ slug, webhook }: Props) => {
  const navigate = useNavigate()
  const params = { slug, webhook: webhook.id }
  const changes = [workspaceKey(slug, "webhooks")]
  const test = useAction({
    act: () => client.webhooks.test({ params }),
    done: ({ attempts, state }) => ({
      title: state === "delivered" ? "The test is delivered" : "The test is not delivered",
      ...(attempts.length === 0 ? {} : { detail: attemptText(attempts.at(-1)!) }),
      tone: state === "delivered" ? "success" : "danger"
    }),
    failed: () => "No test was sent.",
    changes
  })
  const goOn = useAction({
    act: () => client.webhooks.update({ params, payload: { state: "active" } }),
    done: () => ({ title: "It goes on", detail: "First with the delivery that it gave up." }),
    failed: () => "It stays parked.",
    changes
  })
  const remove = useAction({
    act: () => client.webhooks.delete({ params }),
    done: () => ({ title: `The webhook to ${hostOf(webhook.url)} is deleted` }),
    changes: [],
    onDone: () => void navigate({ to: "/w/$slug/webhooks", params: { slug }, replace: true })
  })
  return { goOn, remove, test }
}

interface ActionsProps extends Props {
  readonly actions: ReturnType<typeof useWebhookActions>
}

const WebhookActions = ({ actions: { remove, test }, slug, webhook }: ActionsProps) => {
  const [dialog, setDialog] = useState<"change" | "rotate" | "delete">()
  const close = () => setDialog(undefined)
  const host = hostOf(webhook.url)
  return (
    <>
      <Button isBusy={test.isPending} onClick={() => test.mutate()}>
        Send a test
      </Button>
      <Menu
        groups={[
          {
            items: [
              { label: "Change", onSelect: () => setDialog("change") },
              { label: "Rotate secret", onSelect: () => setDialog("rotate") }
            ]
          },
          { items: [{ label: "Delete", isDangerous: true, onSelect: () => setDialog("delete") }] }
        ]}
        label={`The webhook to ${host}`}
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {dialog === "change" && <WebhookForm onClose={close} slug={slug} webhook={webhook} />}
      {dialog === "rotate" && <RotateSecret onClose={close} slug={slug} webhook={webhook.id} />}
      {dialog === "delete" && (
        <SureDialog action="Delete webhook" doing={remove} onClose={close} title="Delete the webhook?">
          <p>
            {host} is sent nothing any more, and what waits for it is not sent. Its deliveries and its secret are gone:
            there is no way back.
          </p>
        </SureDialog>
      )}
    </>
  )
}

const crumbsOf = (slug: string) => [{ label: "Webhooks", link: { to: "/w/$slug/webhooks", params: { slug } } }] as const

const Whole = ({ slug, webhook }: Props) => {
  const actions = useWebhookActions({ slug, webhook })
  const { goOn } = actions
  return (
    <>
      <Header
        actions={<WebhookActions actions={actions} slug={slug} webhook={webhook} />}
        crumbs={crumbsOf(slug)}
        state={
          <span className={webhook.state === "active" ? "max-sm:hidden" : ""}>
            <WebhookState webhook={webhook} />
          </span>
        }
        title={hostOf(webhook.url)}
      />
      {webhook.state === "parked" && (
        <div
          className="bg-danger-soft border-border flex flex-wrap items-center gap-3 border-b px-4 py-2"
          role="status"
        >
          <p className="text-danger flex-1">
            It gave up on a delivery after eight tries, and is sent nothing. What happens meanwhile waits.
          </p>
          <Button isBusy={goOn.isPending} onClick={() => goOn.mutate()}>
            Go on
          </Button>
        </div>
      )}
      <Facts
        facts={[
          ["Address", <Copyable key="address" label="Copy the address" text={webhook.url} />],
          ["Is sent", kindsText(webhook)],
          ...(webhook.kinds === null || areNamed(webhook.kinds)
            ? []
            : [["Kinds", webhook.kinds.map(kindText).join(", ")] as const]),
          ["Format", webhook.format === "slack" ? "Slack" : "Standard Webhooks"],
          [
            "Made",
            <span key="made">
              <Time at={webhook.createdAt} /> by {actorName(webhook.createdBy)}
            </span>
          ]
        ]}
      />
      <Deliveries slug={slug} webhook={webhook.id} />
    </>
  )
}

const One = ({ id, slug }: { readonly id: string; readonly slug: string }) => {
  const query = useQuery(webhookQuery(slug, id))
  return (
    <>
      {query.data === undefined && <Header crumbs={crumbsOf(slug)} title="Webhook" />}
      <Loaded query={query} rows={8}>
        {(webhook) => <Whole slug={slug} webhook={webhook} />}
      </Loaded>
    </>
  )
}

const WebhookScreen = () => {
  const { slug, webhook } = useParams({ from: "/w/$slug/webhooks/$webhook" })
  return (
    <ForAdmins slug={slug} subject="Webhooks are">
      <One id={webhook} slug={slug} />
    </ForAdmins>
  )
}

export default WebhookScreen
