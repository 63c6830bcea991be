"""Who is looking at a page: proven, or nobody.

visitors.py   what an identity is; nobody, the user of this machine, or the one that the author's own function names
oidc.py       the user who signs in with the issuer; sessions.py has the sign-ins
proxy.py      the user that a fronting proxy vouches for, signed
jwt.py        signed tokens and their keys
"""

from midcall.portal.identity.oidc import Oidc
from midcall.portal.identity.proxy import ProxyJwt
from midcall.portal.identity.visitors import Caller, FromCallable, Identity, Key, Loopback

__all__ = ["Caller", "FromCallable", "Identity", "Key", "Loopback", "Oidc", "ProxyJwt"]
