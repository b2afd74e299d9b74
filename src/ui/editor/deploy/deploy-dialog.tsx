import { Dialog } from '../../parts/dialog.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import type { Actions } from '../document/actions.ts'
import { useDraft } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import { DeployView } from './deploy-view.tsx'
import { EndpointView } from './endpoint-view.tsx'
import { VersionsView } from './versions-view.tsx'

type View = 'deploy' | 'versions' | 'endpoint'

/** Deploys a workflow, lists its versions and shows its entry points. */
export function DeployDialog({
  view,
  autosave,
  actions,
  onView,
  onClose,
}: {
  view: View
  autosave: Autosave
  actions: Actions
  onView: (view: View) => void
  onClose: () => void
}) {
  const name = useDraft(({ document }) => document.name)
  return (
    <Dialog onClose={onClose} title={name} width="wide">
      <Tabs
        label="Deployment"
        value={view}
        onChange={(next) => onView(next as View)}
        tabs={[
          {
            value: 'deploy',
            label: 'Deploy',
            content: <DeployView autosave={autosave} actions={actions} onView={onView} onClose={onClose} />,
          },
          { value: 'versions', label: 'Versions', content: <VersionsView autosave={autosave} onClose={onClose} /> },
          { value: 'endpoint', label: 'Entry points', content: <EndpointView autosave={autosave} /> },
        ]}
      />
    </Dialog>
  )
}
