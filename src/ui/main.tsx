import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueries } from './api/queries.ts'
import { App } from './app.tsx'
import { askAhead } from './screens.tsx'

const root = document.getElementById('root')
if (root) {
  const queries = createQueries()
  askAhead(location.pathname, queries)
  createRoot(root).render(
    <StrictMode>
      <App queries={queries} />
    </StrictMode>,
  )
}
