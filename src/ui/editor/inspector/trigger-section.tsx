import { type ReactNode, useContext } from 'react'
import { TriggerAddress, UpcomingRuns } from '../canvas/trigger-address.tsx'
import { DraftTriggerDetails } from '../trigger-details.ts'

/** The URL or next runs of the inspected trigger, as last saved. */
export function TriggerSection({ type }: { type: string }) {
  const { webhookUrl, chatUrl, formUrl, schedule } = useContext(DraftTriggerDetails)
  if (type === 'webhook_trigger' && webhookUrl) {
    return (
      <Fact title="URL">
        <TriggerAddress url={webhookUrl} />
      </Fact>
    )
  }
  if (type === 'chat_trigger' && chatUrl) {
    return (
      <Fact title="URL">
        <TriggerAddress url={chatUrl} open="Open chat" />
      </Fact>
    )
  }
  if (type === 'form_trigger' && formUrl) {
    return (
      <Fact title="URL">
        <TriggerAddress url={formUrl} open="Open form" />
      </Fact>
    )
  }
  if (type === 'schedule' && schedule) {
    return (
      <Fact title="Next runs">
        <UpcomingRuns times={schedule.next} />
      </Fact>
    )
  }
  return null
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1">
      <h3 className="text-xs font-medium">{title}</h3>
      {children}
      <p className="text-xs text-muted">Active once the workflow is deployed.</p>
    </section>
  )
}
