import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueries } from './api/queries.ts'
import { App } from './app.tsx'
import { prefetch } from './screens.tsx'

const root = document.getElementById('root')
if (root) {
  const queries = createQueries()
  prefetch(location.pathname, queries)
  createRoot(root).render(
    <StrictMode>
      <App queries={queries} />
    </StrictMode>,
  )
}
