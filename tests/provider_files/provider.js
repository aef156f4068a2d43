// An OpenID provider on loopback for tests: its sign-in page is one form, and its people are in PEOPLE.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const people = JSON.parse(process.env.PEOPLE);
const desk = process.env.DESK;
const port = Number(process.env.PORT);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: "desk",
    client_secret: process.env.CLIENT_SECRET,
    redirect_uris: [`${desk}/oauth2callback`],
    post_logout_redirect_uris: [`${desk}/oauth2callback`],
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  cookies: { keys: ["nothing that this provider guards is worth anything"] },
  features: {
    claimsParameter: { enabled: true },
    devInteractions: { enabled: false },
    rpInitiatedLogout: {
      logoutSource: (ctx, form) => {
        ctx.body = `${form}<button form="op.logoutForm" name="logout" value="yes">leave</button>`;
      },
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  // Nobody is asked for consent: a company's own provider does not.
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope("openid email profile groups");
    grant.addOIDCClaims(["email", "email_verified", "name", "groups"]);
    await grant.save();
    return grant;
  },
});

const handle = provider.callback();
createServer(async (request, response) => {
  const [, path, , action, id] = request.url.split("/");
  if (path !== "interaction") return handle(request, response);
  if (action === "as") return provider.interactionFinished(request, response, { login: { accountId: id } });
  if (action === "deny") {
    return provider.interactionFinished(request, response, { error: "access_denied" });
  }
  const links = Object.keys(people).map((name) => `<a href="${request.url}/as/${name}">${name}</a>`);
  response.setHeader("content-type", "text/html");
  return response.end(`<h1>Provider</h1>${links.join(" ")} <a href="${request.url}/deny/me">deny</a>`);
}).listen(port, "127.0.0.1", () => console.log("listening"));
