import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Toasts } from './parts/toast.tsx'
import { Screens } from './screens.tsx'
import { ScreenBoundary } from './shell/screen-boundary.tsx'

/** The root of the editor and dashboard. Every screen is rendered inside it. */
export function App({ queries }: { queries: QueryClient }) {
  return (
    <QueryClientProvider client={queries}>
      {/* The page's policy allows no inline style elements. `styles.css` holds what Base UI would add. */}
      <CSPProvider disableStyleElements>
        <Tooltip.Provider>
          <Toasts>
            <ScreenBoundary>
              <Screens />
            </ScreenBoundary>
          </Toasts>
        </Tooltip.Provider>
      </CSPProvider>
    </QueryClientProvider>
  )
}
