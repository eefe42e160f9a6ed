import { useInfiniteQuery } from "@tanstack/react-query"
import type { WebhookDelivery } from "@delivery/domain/webhooks/Webhook"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Badge, type Tone } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { Cell, Item } from "../ui/Item.tsx"
import { Older } from "../ui/Older.tsx"
import { Section } from "../ui/Section.tsx"
import { Since } from "../ui/Since.tsx"
import { Time } from "../ui/Time.tsx"
import { deliveriesQuery } from "./queries.ts"
import { attemptText, kindText } from "./words.ts"

/** What a webhook was sent, and what came of each try. */

const tones: Readonly<Record<WebhookDelivery["state"], Tone>> = {
  delivered: "success",
  pending: "info",
  parked: "danger"
}

const Tries = ({ attempts }: Pick<WebhookDelivery, "attempts">) => (
  <ol aria-label="Tries" className="text-muted flex flex-col gap-0.5 py-1 pl-4">
    {attempts.map((attempt) => (
      <li className="flex gap-3" key={attempt.at}>
        <span className="w-28">
          <Time at={attempt.at} />
        </span>
        {attemptText(attempt)}
      </li>
    ))}
  </ol>
)

interface RowProps {
  readonly delivery: WebhookDelivery
  readonly slug: string
  readonly webhook: string
}

const Row = ({ delivery, slug, webhook }: RowProps) => {
  const kind = kindText(delivery.event?.kind ?? "test")
  const again = useAction({
    act: () => client.webhooks.redeliver({ params: { slug, webhook, delivery: delivery.id } }),
    done: ({ attempts, state }) => ({
      title: state === "delivered" ? `${kind} is delivered` : `${kind} is not delivered`,
      ...(attempts.length === 0 ? {} : { detail: attemptText(attempts.at(-1)!) }),
      tone: state === "delivered" ? "success" : "danger"
    }),
    failed: () => `${kind} is not sent again.`,
    changes: [workspaceKey(slug, "webhooks", webhook)]
  })
  const [isOpen, setOpen] = useState(false)
  const last = delivery.attempts.at(-1)
  return (
    <Item
      actions={
        <>
          {delivery.event !== null && (
            <Button
              aria-label={`Send again: ${kind}`}
              isBusy={again.isPending}
              look="quiet"
              onClick={() => again.mutate()}
            >
              Send again
            </Button>
          )}
          <IconButton
            aria-expanded={isOpen}
            icon={isOpen ? "chevronDown" : "chevronRight"}
            isSmall
            label={`Tries of ${kind}`}
            onClick={() => setOpen(!isOpen)}
          />
        </>
      }
      badges={<Badge tone={tones[delivery.state]}>{delivery.state}</Badge>}
      detail={`${last === undefined ? "not tried yet" : attemptText(last)}${
        delivery.attempts.length > 1 ? `, after ${counted(delivery.attempts.length, "try", "tries")}` : ""
      }`}
      more={isOpen ? <Tries attempts={delivery.attempts} /> : undefined}
      name={kind}
    >
      <Cell>{delivery.nextAttemptAt !== null && <Since at={delivery.nextAttemptAt} never="" word="again" />}</Cell>
      <Cell width="narrow">
        <Since at={delivery.createdAt} never="" word="" />
      </Cell>
    </Item>
  )
}

export const Deliveries = ({ slug, webhook }: Pick<RowProps, "slug" | "webhook">) => {
  const query = useInfiniteQuery(deliveriesQuery(slug, webhook))
  return (
    <Section isFlush title="Deliveries of the last 30 days">
      <Loaded query={query} rows={6}>
        {({ pages }) =>
          pages[0]?.deliveries.length === 0 ? (
            <p className="text-muted px-4 py-2">Nothing was sent yet. A test shows whether the receiver answers.</p>
          ) : (
            <>
              <ul aria-label="Deliveries">
                {pages
                  .flatMap((page) => page.deliveries)
                  .map((delivery) => (
                    <Row delivery={delivery} key={delivery.id} slug={slug} webhook={webhook} />
                  ))}
              </ul>
              <Older noun="deliveries" query={query} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}
