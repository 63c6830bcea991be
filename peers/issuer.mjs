// An OpenID Connect issuer for tests, built on npm's oidc-provider.
//
//   node issuer.mjs PORT PORTAL MCP
//
//   PORTAL  the URL of a portal: it signs users in as client "portal" and connects accounts as "tracker"
//   MCP     the URL of an MCP server: access tokens for it are JWTs
//
// It believes every name and lets any client register. Prints a line once it listens.
import { Provider } from 'oidc-provider';

const [port, portal, mcp] = process.argv.slice(2);
const web = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };

const provider = new Provider(`http://localhost:${port}`, {
  clients: [
    { client_id: 'portal', client_secret: 'portal-secret', redirect_uris: [`${portal}/signed-in`], ...web },
    { client_id: 'tracker', client_secret: 'tracker-secret', redirect_uris: [`${portal}/callback/tracker`], ...web },
  ],
  claims: { openid: ['sub'], email: ['email'] },
  cookies: { keys: ['for tests only'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
  issueRefreshToken: () => true,
  pkce: { required: () => true },
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => {
        if (resource !== mcp) throw new Error(`no server at ${resource}`);
        return { scope: 'openid', audience: mcp, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } };
      },
    },
  },
});

provider.listen(Number(port), 'localhost', () => console.log('listening'));
