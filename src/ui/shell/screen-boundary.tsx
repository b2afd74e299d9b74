import { Component, type ReactNode } from 'react'
import { Failed } from '../parts/states.tsx'

/**
 * Limits an error to its screen. The screen's files may also be missing after an update of the service; reloading
 * helps.
 */
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
