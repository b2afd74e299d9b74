import { Component, type ReactNode } from 'react'
import { Failed } from '../parts/states.tsx'

/** A bug on one screen stays on it. Its files may be gone after an update of the service, too: loading the page helps. */
export class ScreenBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <Failed error={this.state.error} title="This page stopped working" retry={() => location.reload()} />
  }
}
