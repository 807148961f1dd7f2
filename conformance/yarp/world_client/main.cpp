// Opens YARP 4's own simulatedWorld_nwc_yarp and calls all of its interface: a line "ok CALL" or "FAILED CALL" for
// each call that must succeed, the same with "refused CALL" for each that must not, and "value NAME NUMBER..." for each
// result. Arguments: prefix of the server (/robot/world), a link of the robot.
// The headers of YARP 3.12 need these first.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <cstdio>
#include <string>
#include <vector>

#include <yarp/dev/ISimulatedWorld.h>
#include <yarp/dev/PolyDriver.h>
#include <yarp/os/Network.h>
#include <yarp/os/Property.h>
#include <yarp/sig/ColorRGB.h>
#include <yarp/sig/Pose6D.h>

#include "../stock_plugins.h"

using namespace yarp::dev;
using namespace yarp::os;
using yarp::sig::ColorRGB;
using yarp::sig::Pose6D;

static int failures = 0;

static void expect(bool wanted, const char* call, bool done)
{
    const bool good = done == wanted;
    failures += !good;
    std::printf("%s %s%s\n", good ? "ok" : "FAILED", wanted ? "" : "refused ", call);
}

static void pose_of(ISimulatedWorld* world, const char* name, const char* frame)
{
    Pose6D pose;
    expect(true, "getPose", bool(world->getPose(name, pose, frame)));
    std::printf("value %s %.9g %.9g %.9g %.9g %.9g %.9g\n", name, pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw);
}

static void list(ISimulatedWorld* world)
{
    std::vector<std::string> names;
    expect(true, "getList", bool(world->getList(names)));
    std::printf("names");
    for (const auto& name : names) std::printf(" %s", name.c_str());
    std::printf("\n");
}

int main(int argc, char** argv)
{
    register_plugins();
    Network network;
    if (argc < 3 || !network.checkNetwork(5.0)) { std::printf("no name server\n"); return 2; }
    Property options;
    options.put("device", "simulatedWorld_nwc_yarp");
    options.put("remote", argv[1]);
    options.put("local", "/tester/world");
    PolyDriver driver;
    ISimulatedWorld* world = nullptr;
    if (!driver.open(options) || !driver.view(world)) { std::printf("simulatedWorld_nwc_yarp does not open\n"); return 2; }

    const ColorRGB red(255, 0, 0), blue(0, 0, 255);
    expect(true, "makeSphere", bool(world->makeSphere("ball", 0.1, Pose6D(1, 2, 3, 0.1, 0.2, 0.3), red, "", false, false)));
    expect(true, "makeBox", bool(world->makeBox("box", 0.1, 0.2, 0.3, Pose6D(-1, 2, 0.5, 0, 0, 1), blue, "", false, false)));
    expect(true, "makeCylinder", bool(world->makeCylinder("can", 0.1, 0.2, Pose6D(3, 0, 1, 0, 0, 0), red, "", false, false)));
    expect(true, "makeFrame", bool(world->makeFrame("axes", 0.1, Pose6D(0, 3, 1, 0, 0, 0), red, "", false, false)));
    list(world);
    pose_of(world, "ball", "");
    pose_of(world, "box", "");
    expect(true, "setPose", bool(world->setPose("ball", Pose6D(0.5, 0.25, 2, 0, 0.5, 0), "box")));
    pose_of(world, "ball", "box");
    pose_of(world, "ball", "");
    expect(true, "changeColor", bool(world->changeColor("ball", blue)));
    expect(true, "enableCollision", bool(world->enableCollision("ball", true)));
    expect(true, "enableGravity", bool(world->enableGravity("ball", false)));
    expect(true, "attach", bool(world->attach("can", argv[2])));
    expect(true, "detach", bool(world->detach("can")));
    expect(true, "rename", bool(world->rename("can", "tin")));
    list(world);
    Pose6D pose;
    expect(false, "getPose", bool(world->getPose("nobody", pose, "")));
    expect(false, "makeSphere", bool(world->makeSphere("ball", 0.1, Pose6D(), red, "", false, false)));
    expect(false, "makeModel", bool(world->makeModel("model", "model.sdf", Pose6D(), "", false, false)));
    expect(false, "makeActor", bool(world->makeActor("actor", "skin", "motion", Pose6D())));
    expect(false, "attach", bool(world->attach("ball", "no_such_link")));
    expect(true, "deleteObject", bool(world->deleteObject("ball")));
    list(world);
    expect(true, "deleteAll", bool(world->deleteAll()));
    list(world);
    driver.close();
    return failures ? 1 : 0;
}
