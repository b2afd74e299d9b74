import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../parts/dialog.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { durationText } from '../../parts/time-text.ts'
import type { TestDelivery } from './webhook-queries.ts'

/** The result of a test delivery: the request and the response. */
export function TestDeliveryDialog({
  result,
  url,
  onClose,
}: {
  result: TestDelivery
  url: string
  onClose: () => void
}) {
  const { delivered, status, error, answer, durationMs, body, deliveryId } = result
  return (
    <Dialog onClose={onClose} title={delivered ? 'Test delivery succeeded' : 'Test delivery failed'} description={url}>
      <DialogBody>
        <p
          role="status"
          className={
            delivered
              ? 'rounded-md bg-ok-soft px-3 py-2 text-sm text-ok-text'
              : 'rounded-md bg-error-soft px-3 py-2 text-sm break-words text-error-text'
          }
        >
          {status !== null && `Status ${status} in ${durationText(durationMs)}. `}
          {error && `${error.message} (${error.code})`}
        </p>
        {answer !== null && answer !== '' && <JsonView label="Response" value={parsed(answer)} />}
        <JsonView label="Request body" value={parsed(body)} />
        <p className="text-xs text-muted">
          Delivery <code className="font-mono">{deliveryId}</code>. Test deliveries are not recorded.
        </p>
      </DialogBody>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** Parses JSON; anything else stays text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
